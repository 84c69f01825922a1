import { countLines } from "../../environment/files/line-counter.ts";
import { openContained } from "../../environment/files/open-regular-file.ts";
import { changeCounts } from "../../environment/files/overwrite-diff.ts";
import { readWhole } from "../../environment/files/read-chunks.ts";
import {
  CONTEXT_LINES,
  diffHunks,
  diffPath,
  formatFileHeader,
  formatHunk,
} from "../../environment/files/unified-diff.ts";
import { presentState } from "./file-state.ts";
import type { FilePlan } from "./plan-file.ts";

const MAX_COMPARED_BYTES = 1024 * 1024;
const MAX_FILE_CHARS = 20_000;
const MAX_CHARS = 200_000;

/** Shows what undo changes, file after file, until there is enough. */
export class UndoDiffs {
  readonly #workspaceDir: string;
  #shown = 0;

  constructor(workspaceDir: string) {
    this.#workspaceDir = workspaceDir;
  }

  /**
   * From what is there to what was; in one line where it is long, no text, or changes no content.
   *
   * @param content - The bytes that the file gets.
   * @returns `undefined` where nothing changes, and when 200,000 characters have been shown.
   */
  async of({ change: { path, before }, action }: FilePlan, content: Buffer | undefined): Promise<string | undefined> {
    if ((action !== "restored" && action !== "deleted") || this.#shown > MAX_CHARS) return undefined;
    const header = formatFileHeader(diffPath(this.#workspaceDir, path));
    const present = presentState(path);
    const body =
      before.kind === "link" || present.kind === "link"
        ? `[a link: ${present.kind === "link" ? present.target : "none"} -> ${before.kind === "link" ? before.target : "none"}]`
        : await contentDiff(path, present.kind === "file" ? present.stats.size : undefined, content);
    const diff = `${header}\n${body}`;
    const cut = diff.length > MAX_FILE_CHARS ? `${diff.slice(0, MAX_FILE_CHARS)}\n[...]` : diff;
    this.#shown += cut.length;
    return cut;
  }
}

async function contentDiff(path: string, size: number | undefined, then: Buffer | undefined): Promise<string> {
  const sizes = `[${size ?? 0} bytes -> ${then?.length ?? 0} bytes]`;
  if ((size ?? 0) > MAX_COMPARED_BYTES || (then?.length ?? 0) > MAX_COMPARED_BYTES) return sizes;
  const now = size === undefined ? Buffer.alloc(0) : await contentOf(path);
  const after = then ?? Buffer.alloc(0);
  if (now.equals(after)) return "[only the mode changes]";
  if (now.includes(0) || after.includes(0)) return sizes;
  const hunks = await diffHunks(now, after, CONTEXT_LINES);
  return hunks?.map(formatHunk).join("\n") ?? changeCounts(countLines(after), countLines(now));
}

async function contentOf(path: string): Promise<Buffer> {
  const file = await openContained(path);
  try {
    return await readWhole(file);
  } finally {
    file.close();
  }
}
