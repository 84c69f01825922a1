import { lineArgument, optionalTextArgument, textArgument } from "../../files/file-arguments.ts";
import { FileProblem } from "../../files/file-problem.ts";
import { type ByteRange, findOccurrences } from "../../files/find-occurrences.ts";
import { UTF8_MARK } from "../../files/line-window.ts";
import { describeNearestLines } from "../../files/nearest-lines.ts";
import { type Replacement, toReplacements } from "../../files/replace-ranges.ts";

const LF = 0x0a;

/** What an edit wants, in either form. */
export type Edit =
  | { readonly form: "lines"; readonly startLine: number; readonly endLine: number; readonly content: string }
  | { readonly form: "text"; readonly oldText: string; readonly newText: string };

/** Reads the arguments of an edit. @throws {FileProblem} They are of neither form, or of both. */
export function readEdit(args: Readonly<Record<string, unknown>>): Edit {
  const lines = ["startLine", "endLine", "content"].filter((name) => args[name] !== undefined);
  const text = ["oldText", "newText"].filter((name) => args[name] !== undefined);
  if (lines.length === 3 && text.length === 0) return lineEdit(args);
  if (text.length === 2 && lines.length === 0) return textEdit(args);
  const given = [...lines, ...text].join(", ") || "neither";
  throw new FileProblem(`give startLine, endLine and content, or oldText and newText; got ${given}`);
}

function lineEdit(args: Readonly<Record<string, unknown>>): Edit {
  const startLine = lineArgument(args, "startLine", 1);
  const endLine = lineArgument(args, "endLine", startLine);
  if (endLine < startLine) {
    throw new FileProblem(`endLine ${endLine} comes before startLine ${startLine}; give the smaller one first`);
  }
  return { form: "lines", startLine, endLine, content: textArgument(args, "content") };
}

function textEdit(args: Readonly<Record<string, unknown>>): Edit {
  const oldText = textArgument(args, "oldText");
  if (oldText === "")
    throw new FileProblem("oldText is empty; to create a file or replace its whole content use write");
  return { form: "text", oldText, newText: optionalTextArgument(args, "newText") ?? "" };
}

/** Where an edit takes place. */
export interface EditedRange {
  readonly replacement: Replacement;
  /** Of the lines the edit touches, as they were before. */
  readonly startLine: number;
  readonly endLine: number;
  /** False for a text that was found only by letting its line feeds match CRLF. */
  readonly exact: boolean;
}

/** Finds the place of an edit. @throws {FileProblem} It is not there, or not the only one. */
export async function editedRange(content: Buffer, edit: Edit, signal?: AbortSignal): Promise<EditedRange> {
  const { range, ...place } = edit.form === "lines" ? findLines(content, edit) : await findText(content, edit, signal);
  const newText =
    edit.form === "lines" ? asLines(edit.content, content.subarray(range.start, range.end)) : edit.newText;
  const oldText = edit.form === "lines" ? "" : edit.oldText;
  const [replacement] = toReplacements(content, [range], oldText, newText);
  if (replacement === undefined) throw new FileProblem("the place of the edit could not be found");
  return { ...place, replacement };
}

type Place = Pick<EditedRange, "startLine" | "endLine" | "exact"> & { readonly range: ByteRange };

function findLines(content: Buffer, { startLine, endLine }: Extract<Edit, { form: "lines" }>): Place {
  // A byte order mark is no part of the first line.
  let start = content.subarray(0, UTF8_MARK.length).equals(UTF8_MARK) ? UTF8_MARK.length : 0;
  let end = start;
  let line = 0;
  while (end < content.length && line < endLine) {
    if (line < startLine) start = end;
    const feed = content.indexOf(LF, end);
    end = feed === -1 ? content.length : feed + 1;
    line++;
  }
  if (line < endLine) throw new FileProblem(`there are no lines ${startLine} to ${endLine}; the file has ${line}`);
  return { startLine, endLine, exact: true, range: { start, end } };
}

/** The new text ends its last line where the old one did. */
function asLines(text: string, old: Buffer): string {
  return text === "" || text.endsWith("\n") || old.at(-1) !== LF ? text : `${text}\n`;
}

async function findText(
  content: Buffer,
  { oldText }: Extract<Edit, { form: "text" }>,
  signal: AbortSignal | undefined,
): Promise<Place> {
  const { ranges, exact } = await findOccurrences(content, oldText, { maxCount: 2, signal });
  const [range] = ranges;
  if (range === undefined) {
    throw new FileProblem(`oldText was not found; ${describeNearestLines(content, oldText, "oldText")}`);
  }
  if (ranges.length > 1) {
    throw new FileProblem(
      "oldText occurs more than once, and nothing was replaced; add the lines around the right place",
    );
  }
  const startLine = lineOf(content, range.start);
  return { range, exact, startLine, endLine: startLine + feedsIn(content.subarray(range.start, range.end - 1)) };
}

function lineOf(content: Buffer, offset: number): number {
  return feedsIn(content.subarray(0, offset)) + 1;
}

function feedsIn(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(LF); at !== -1; at = bytes.indexOf(LF, at + 1)) count++;
  return count;
}
