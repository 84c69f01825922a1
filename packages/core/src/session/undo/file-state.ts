import { createHash } from "node:crypto";
import { readlinkSync, type Stats } from "node:fs";
import { dirname } from "node:path";
import { openContained } from "../../environment/files/open-regular-file.ts";
import { readChunks } from "../../environment/files/read-chunks.ts";
import { entryAt, realPathOf } from "../../environment/files/resolve-path.ts";

/** Names a content by its hash: `sha256:…`, or `git:…` for a blob of git. */
export type ContentRef = `sha256:${string}` | `git:${string}`;

/** What is, or was, at a path. */
export type FileState =
  | { readonly kind: "absent" }
  | { readonly kind: "file"; readonly content: ContentRef; readonly mode: number }
  | { readonly kind: "link"; readonly target: string }
  /** A file whose bytes nobody kept. */
  | { readonly kind: "unkept"; readonly reason: string };

/** What is at a path now. */
export type PresentState =
  | { readonly kind: "absent" }
  | { readonly kind: "file"; readonly stats: Stats }
  | { readonly kind: "link"; readonly target: string }
  /** A directory, a FIFO, a device; or one of the directories above is a link. */
  | { readonly kind: "other"; readonly what: string };

/** File systems stamp with a clock that lags behind by a few milliseconds. */
export const CLOCK_LAG_MS = 20;

/** Looks without following a link at the end of the path. @param path - A real path. */
export function presentState(path: string): PresentState {
  const stats = entryAt(path);
  const parent = dirname(path);
  if (realPathOf(parent) !== parent) return { kind: "other", what: "its directory leads elsewhere now" };
  if (stats === undefined) return { kind: "absent" };
  if (stats.isFile()) return { kind: "file", stats };
  if (stats.isSymbolicLink()) return { kind: "link", target: readlinkSync(path) };
  return { kind: "other", what: stats.isDirectory() ? "it is a directory now" : "it is no regular file now" };
}

/** Whether what is at a path now is this; the mode counts only where `withMode` says so. */
export async function isState(
  path: string,
  present: PresentState,
  state: FileState,
  withMode: boolean,
): Promise<boolean> {
  if (state.kind === "file" && present.kind === "file") {
    if (withMode && (present.stats.mode & 0o7777) !== state.mode) return false;
    return await hasContent(path, state.content);
  }
  if (state.kind === "link") return present.kind === "link" && present.target === state.target;
  return state.kind === "absent" && present.kind === "absent";
}

/** Whether what is at a path now is one of these, whatever its mode. */
export async function isAnyState(path: string, present: PresentState, states: readonly FileState[]): Promise<boolean> {
  for (const state of states) if (await isState(path, present, state, false)) return true;
  return false;
}

async function hasContent(path: string, content: ContentRef): Promise<boolean> {
  const file = await openContained(path);
  try {
    const hash = hasherOf(content, file.stats.size);
    for await (const chunk of readChunks(file)) hash.update(chunk);
    return content.endsWith(`:${hash.digest("hex")}`);
  } finally {
    file.close();
  }
}

function hasherOf(content: ContentRef, size: number): ReturnType<typeof createHash> {
  return content.startsWith("git:") ? createHash("sha1").update(`blob ${size}\0`) : createHash("sha256");
}
