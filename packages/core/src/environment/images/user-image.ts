import { RookeryError } from "../../errors/rookery-error.ts";
import { userImage } from "../../omnimessage/build.ts";
import type { ImageUrlPayload, OmniMessage } from "../../omnimessage/message.ts";
import type { ImageOptions } from "../contract.ts";
import { problemText } from "../files/file-problem.ts";
import { configuredDownloader } from "./download-image.ts";
import { spellSource } from "./image-source.ts";
import { loadImage } from "./load-image.ts";

/**
 * Reads an image into a message for `session.run`, as the image tools do.
 *
 * @param source - A file, or a public http(s) address.
 * @param baseDir - What a relative path starts from; default the process's own directory.
 * @param options - Which addresses, and through which proxies.
 * @throws {RookeryError} `usage` where there is no image that can be sent.
 */
export async function readUserImage(
  source: string,
  baseDir: string = process.cwd(),
  options: ImageOptions = {},
): Promise<OmniMessage<ImageUrlPayload>> {
  try {
    return userImage((await loadImage(source, { workspaceDir: baseDir }, configuredDownloader(options))).dataUrl);
  } catch (error) {
    const [what = "", ...advice] = problemText(error).split("; ");
    throw new RookeryError("usage", `cannot use the image ${spellSource(source)}: ${what}`, {
      hint: advice.join("; ") || "name another image",
      cause: error,
    });
  }
}
