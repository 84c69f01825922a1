import { fingerprintOf, hashFile, isHuge, sha256 } from "./content-hash.ts";
import { countLines } from "./line-counter.ts";
import { openIfPresent } from "./open-regular-file.ts";
import { readWhole } from "./read-chunks.ts";

const MAX_COMPARED_BYTES = 1024 * 1024;

/** What a file holds; the content itself only where a diff against it is worth showing. */
export interface PresentFile {
  readonly fingerprint: string;
  readonly size: number;
  /** This and the number of lines are absent for a huge file, unless its hash was asked for. */
  readonly sha256?: string;
  readonly lineCount?: number;
  readonly content?: Buffer;
}

/** What is there now; `undefined` for no file. @throws {FileProblem} It is no regular file, or the signal fired. */
export async function readPresent(
  realPath: string,
  needsHash: boolean,
  signal: AbortSignal | undefined,
): Promise<PresentFile | undefined> {
  const file = await openIfPresent(realPath);
  if (file === undefined) return undefined;
  try {
    const { size } = file.stats;
    if (isHuge(file)) {
      const hashed = needsHash ? await hashFile(file, signal) : {};
      return { fingerprint: await fingerprintOf(file), size, ...hashed };
    }
    if (size > MAX_COMPARED_BYTES) {
      const hashed = await hashFile(file, signal);
      return { fingerprint: hashed.sha256, size, ...hashed };
    }
    const content = await readWhole(file, signal);
    const hash = sha256(content);
    const isText = !content.includes(0);
    return { fingerprint: hash, size, sha256: hash, lineCount: countLines(content), ...(isText && { content }) };
  } finally {
    file.close();
  }
}
