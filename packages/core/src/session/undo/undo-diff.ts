import { countLines } from "../../environment/files/line-counter.ts";
import { openContained } from "../../environment/files/open-regular-file.ts";
import { changeCounts } from "../../environment/files/overwrite-diff.ts";
import { readWhole } from "../../environment/files/read-chunks.ts";
import { CONTEXT_LINES, diffHunks, diffPath, formatHunk } from "../../environment/files/unified-diff.ts";
import { type FileState, type PresentState, presentState } from "./file-state.ts";
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
   * From what is there to what was, with the modes where they differ; in one line where it is long, no text, or changes no content.
   *
   * @param content - The bytes that the file gets.
   * @returns `undefined` where nothing changes, and when 200,000 characters have been shown.
   */
  async of({ change: { path, before }, action }: FilePlan, content: Buffer | undefined): Promise<string | undefined> {
    if ((action !== "restored" && action !== "deleted") || this.#shown > MAX_CHARS) return undefined;
    const present = presentState(path);
    const header = fileHeader(diffPath(this.#workspaceDir, path), present, before);
    const modes = modeChange(present, before);
    const body =
      before.kind === "link" || present.kind === "link"
        ? `[a link: ${targetOf(present)} -> ${targetOf(before)}]`
        : await contentDiff(path, present.kind === "file" ? present.stats.size : undefined, content);
    const diff =
      body === undefined
        ? `${header}\n[only the mode changes: ${modes}]`
        : `${modes ? `[mode ${modes}]\n` : ""}${header}\n${body}`;
    const cut = diff.length > MAX_FILE_CHARS ? `${diff.slice(0, MAX_FILE_CHARS)}\n[...]` : diff;
    this.#shown += cut.length;
    return cut;
  }
}

/** In git's style, with absolute names outside of the workspace. */
function fileHeader(name: string, present: PresentState, before: FileState): string {
  const [old, now] = name.startsWith("/") ? [name, name] : [`a/${name}`, `b/${name}`];
  const isThere = present.kind === "file" || present.kind === "link";
  return `--- ${isThere ? named(old) : NOTHING}\n+++ ${before.kind === "absent" ? NOTHING : named(now)}`;
}

/** As a JSON string where it holds control characters, which would begin lines or act on a terminal. */
function named(path: string): string {
  if (!/\p{Cc}/u.test(path)) return path;
  const escaped = (sign: string): string => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return JSON.stringify(path).replace(/\p{Cc}/gu, escaped);
}

const NOTHING = "/dev/null";

function targetOf(state: PresentState | FileState): string {
  return state.kind === "link" ? named(state.target) : "none";
}

/** Absent where the mode stays, or one side is no file. */
function modeChange(present: PresentState, before: FileState): string | undefined {
  if (present.kind !== "file" || before.kind !== "file") return undefined;
  const mode = present.stats.mode & 0o7777;
  return mode === before.mode ? undefined : `${mode.toString(8)} -> ${before.mode.toString(8)}`;
}

/** Absent where the content stays as it is. */
async function contentDiff(
  path: string,
  size: number | undefined,
  then: Buffer | undefined,
): Promise<string | undefined> {
  const sizes = `[${size ?? 0} bytes -> ${then?.length ?? 0} bytes]`;
  if ((size ?? 0) > MAX_COMPARED_BYTES || (then?.length ?? 0) > MAX_COMPARED_BYTES) return sizes;
  const now = size === undefined ? Buffer.alloc(0) : await contentOf(path);
  const after = then ?? Buffer.alloc(0);
  if (now.equals(after)) return size === undefined || then === undefined ? "[an empty file]" : undefined;
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
