import { resolve } from "node:path";
import { insideWorkspace } from "../../approval/path-match.ts";
import type { EnvironmentConfig } from "../contract.ts";
import { textArgument } from "../files/file-arguments.ts";
import { FileGuard } from "../files/file-guard.ts";
import { assessedPath, spellTarget } from "../files/locate-file.ts";
import { isSecretLikePath } from "../files/secret-paths.ts";
import type { BuiltinTool, ToolExecutionContext } from "../tool.ts";
import { configuredDownloader } from "./download-image.ts";
import { isAddress, spellSource } from "./image-source.ts";
import { type LoadedImage, loadImage } from "./load-image.ts";

type Args = Record<string, unknown>;

export const SOURCE_PARAMETER = {
  type: "string",
  description: "An http(s) address, or the path of a file: absolute, or relative to the workspace.",
} as const;

/**
 * What tools that read the image `source` say of their calls. What is fetched from an address, and a file that is outside
 * of the workspace or secret-like, is no mere reading.
 *
 * @param verb - What the tool does with the image, for a person.
 */
export function imageTraits(verb: string): Required<Pick<BuiltinTool, "assessRisk" | "approvalSummary" | "paths">> {
  return {
    async assessRisk(args, context) {
      const source = textArgument(args, "source");
      if (isAddress(source)) return "filesystem";
      const { workspaceDir } = context;
      const real = await assessedPath(source, context);
      const isSecretLike = [resolve(workspaceDir, source), real].some(isSecretLikePath);
      return isSecretLike || insideWorkspace(real, workspaceDir) === undefined ? "filesystem" : "read_only";
    },
    async approvalSummary(args, context) {
      const source = textArgument(args, "source");
      if (isAddress(source)) return `${verb} the image at ${spellSource(source)}, which is fetched`;
      return `${verb} the image ${await spellTarget(source, context)}`;
    },
    paths(args) {
      const source = textArgument(args, "source");
      return isAddress(source) ? {} : { read: [source] };
    },
  };
}

/** Makes what reads the image of a call; a file counts as seen by the session. @throws {FileProblem} As `loadImage`. */
export function imageReader({
  images,
  services,
  protectedPaths,
}: EnvironmentConfig): (args: Args, context: ToolExecutionContext) => Promise<LoadedImage> {
  const files = services?.files ?? new FileGuard();
  const download = configuredDownloader(images);
  return async (args, context) => {
    const image = await loadImage(textArgument(args, "source"), { ...context, protectedPaths }, download);
    if (image.path !== undefined) files.remember(image.path, image.sha256);
    return image;
  };
}

/** What programs are told of an image that was read. */
export function imageDetails(args: Args, { format, width, height, bytes, sha256, path }: LoadedImage): Args {
  const source = spellSource(textArgument(args, "source"));
  return { source, ...(path !== undefined && { path }), sha256, format, width, height, bytes };
}
