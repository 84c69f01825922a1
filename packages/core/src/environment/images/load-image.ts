import { sha256 } from "../files/content-hash.ts";
import { FileProblem } from "../files/file-problem.ts";
import { locateFile } from "../files/locate-file.ts";
import { openRegularFile } from "../files/open-regular-file.ts";
import { readChunks } from "../files/read-chunks.ts";
import type { ToolExecutionContext } from "../tool.ts";
import type { DownloadImage } from "./download-image.ts";
import { describeTooLarge, MAX_IMAGE_BYTES } from "./image-limits.ts";
import { assertPath, isAddress, readAddress } from "./image-source.ts";
import { type ImageFacts, judgeImage } from "./judge-image.ts";

/** An image that can be sent to a model. */
export interface LoadedImage extends ImageFacts {
  readonly bytes: number;
  readonly sha256: string;
  readonly dataUrl: string;
  /** The real path; absent for one by address. */
  readonly path?: string;
}

type Place = Pick<ToolExecutionContext, "workspaceDir" | "paths" | "signal"> & {
  readonly protectedPaths?: readonly string[] | undefined;
};

/**
 * Reads an image from an http(s) address or a file, at most 5 MiB of it.
 *
 * @param place - See `locateFile`.
 * @throws {FileProblem} Why there is no usable image; otherwise the system's own error.
 */
export async function loadImage(source: string, place: Place, download: DownloadImage): Promise<LoadedImage> {
  if (isAddress(source)) return loaded(await download(readAddress(source), place.signal));
  assertPath(source);
  const path = await locateFile(source, place);
  return { ...loaded(await readImageFile(path, place.signal)), path };
}

function loaded(content: Buffer): LoadedImage {
  const facts = judgeImage(content);
  const dataUrl = `data:${facts.mediaType};base64,${content.toString("base64")}`;
  return { ...facts, bytes: content.length, sha256: sha256(content), dataUrl };
}

async function readImageFile(realPath: string, signal: AbortSignal | undefined): Promise<Buffer> {
  const file = await openRegularFile(realPath);
  try {
    const parts: Buffer[] = [];
    for await (const chunk of readChunks(file, { maxBytes: MAX_IMAGE_BYTES + 1, signal }))
      parts.push(Buffer.from(chunk));
    const content = Buffer.concat(parts);
    if (content.length <= MAX_IMAGE_BYTES) return content;
    throw new FileProblem(describeTooLarge(Math.max(file.stats.size, content.length)));
  } finally {
    file.close();
  }
}
