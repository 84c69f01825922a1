import type { UndoneFile, UndoResult } from "@rookery/core";
import { neutralise, oneLine } from "./neutralise.ts";

/** Whether undo changes a file. */
export function isChanged({ action }: Pick<UndoneFile, "action">): boolean {
  return action === "restored" || action === "deleted";
}

/** A line for each file. @param isPlanned - Nothing of it has been done. */
export function fileLines({ files }: UndoResult, isPlanned: boolean): string[] {
  return files.map(({ path, action, reason }) => {
    const why = reason === undefined ? "" : `: ${oneLine(reason)}`;
    return `${isPlanned && isChanged({ action }) ? "would be " : ""}${action} ${oneLine(path)}${why}`;
  });
}

/** The diffs, harmless to a terminal; behind them how many files have none, since there was too much to show. */
export function diffLines({ files }: UndoResult): string[] {
  const lines = files.flatMap(({ diff }) => (diff === undefined ? [] : neutralise(diff).split("\n")));
  const missing = files.filter((file) => isChanged(file) && file.diff === undefined).length;
  return missing === 0 ? lines : [...lines, `[no diffs of ${missing} more file${missing === 1 ? "" : "s"}]`];
}

/** The notes, and how what was refused is undone where `--force` does that. @param command - What undoes this task. */
export function undoNotes({ files, notes }: UndoResult, command: string): string[] {
  const isForcible = files.some(({ forcible }) => forcible);
  return isForcible
    ? [...notes, `to undo what is refused too, and keep what is there: ${command} --force`]
    : [...notes];
}
