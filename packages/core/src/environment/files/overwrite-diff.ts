import { CONTEXT_LINES, countChanges, diffHunks, formatFileHeader, formatHunk } from "./unified-diff.ts";

const MAX_SHOWN_CHANGES = 60;

/**
 * What an overwrite changed: a unified diff of at most 60 changed lines (PT-137), otherwise, or where it does not fit,
 * the numbers of added and removed lines (PT-138).
 *
 * @param options - As for `editDiff`.
 */
export async function overwriteDiff(
  before: Buffer,
  after: Buffer,
  options: { readonly path: string; readonly maxCharacters: number },
): Promise<string> {
  const hunks = await diffHunks(before, after, CONTEXT_LINES);
  if (hunks === undefined) return countBetweenEqualEnds(before, after);
  const { added, removed } = countChanges(hunks);
  const diff = [formatFileHeader(options.path), ...hunks.map(formatHunk)].join("\n");
  const fits = added + removed <= MAX_SHOWN_CHANGES && diff.length <= options.maxCharacters;
  return fits ? diff : changeCounts(added, removed);
}

/** For contents that differ in very many lines: all lines between their equal beginnings and ends count as changed. */
function countBetweenEqualEnds(before: Buffer, after: Buffer): string {
  const old = before.toString("latin1").split("\n");
  const now = after.toString("latin1").split("\n");
  while (old.length > 0 && old.at(-1) === now.at(-1)) {
    old.pop();
    now.pop();
  }
  const changed = now.findIndex((line, i) => line !== old[i]);
  const equal = changed === -1 ? now.length : changed;
  return changeCounts(now.length - equal, old.length - equal);
}

/** As one line. */
export function changeCounts(added: number, removed: number): string {
  return `+${added}/−${removed} lines`;
}
