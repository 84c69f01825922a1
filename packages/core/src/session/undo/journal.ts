import { closeSync, readFileSync } from "node:fs";
import { errorCode } from "../../errors/error-text.ts";
import { openPrivateFile } from "../../trace/private-files.ts";
import { writeWhole } from "../../trace/write-whole.ts";
import type { FileState } from "./file-state.ts";

/** One line of the journal. The lines of a task stand in the order of what happened. */
export type JournalEntry =
  | {
      readonly type: "begin";
      readonly task: number;
      readonly at: string;
      /** How its input begins. */
      readonly prompt?: string;
      /** It undoes that task. */
      readonly undoes?: number;
    }
  | {
      /** A file is about to change. */
      readonly type: "file";
      readonly task: number;
      readonly path: string;
      /** What was there, at the first change of the task. */
      readonly before?: FileState;
      /** Directories that are made for it, outermost first. */
      readonly made?: readonly string[];
      /** What is put there. */
      readonly left: FileState;
    }
  | {
      /** The state of a git work tree, before the first command of the task and when the task had ended. */
      readonly type: "tree";
      readonly task: number;
      readonly when: "before" | "after";
      readonly at: string;
      readonly root: string;
      readonly tree: string;
      /** The sha256 of a JSON object: the modes of files that have others than git would give them. */
      readonly modes?: string;
      /** Of a state before commands, the sha256 of a JSON array: what is there and not in it, ignored or left out. */
      readonly unknown?: string;
      /** What is in the work tree and not in this state. */
      readonly leftOut?: readonly string[];
    }
  /** Commands ran, and what they did is not known. */
  | { readonly type: "uncovered"; readonly task: number; readonly reason: string }
  /** Everything of the task that was kept is as it was before; so many of its files were not. */
  | { readonly type: "undone"; readonly task: number; readonly notKept?: number };

/**
 * Adds a line, with one `write(2)`; the line break stands before it, so that a torn line spoils no other.
 *
 * @throws What the file system reports.
 */
export function appendEntry(file: string, entry: JournalEntry): void {
  const fd = openPrivateFile(file, "append");
  try {
    writeWhole(fd, Buffer.from(`\n${JSON.stringify(entry)}`));
  } finally {
    closeSync(fd);
  }
}

/** Reads the lines that can be read; none where there is no journal. A line that was being written is left out. */
export function readJournal(file: string): JournalEntry[] {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    if (errorCode(error) === "ENOENT") return [];
    throw error;
  }
  return text.split("\n").flatMap((line) => parseEntry(line) ?? []);
}

function parseEntry(line: string): JournalEntry | undefined {
  try {
    const entry = JSON.parse(line) as JournalEntry;
    return TYPES.has(entry.type) && Number.isInteger(entry.task) ? entry : undefined;
  } catch {
    return undefined;
  }
}

const TYPES: ReadonlySet<unknown> = new Set(["begin", "file", "tree", "uncovered", "undone"]);
