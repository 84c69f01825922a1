import { type LineProblem, readMessages } from "../omnimessage/json-lines.ts";
import type { OmniMessage } from "../omnimessage/message.ts";
import { readContextFile } from "./context-files.ts";

/** A record of a trace, or what a person should know about lines that were left out. */
export type TraceEntry =
  | { readonly message: OmniMessage }
  | {
      readonly problem: string;
      /** The file ends in the middle of a record, as a killed process leaves it; everything before was read. */
      readonly torn: boolean;
    };

/**
 * Reads the records of one context file in order, in memory of the size of its longest line.
 *
 * Lines that cannot be read are left out. What was left out is told after the last record: one entry for damaged lines,
 * however many, and one for a torn end.
 *
 * @throws {RookeryError} `trace-corrupt` for a file that is missing or cannot be read.
 */
export async function* readTrace(file: string): AsyncGenerator<TraceEntry> {
  const shown: LineProblem[] = [];
  let damaged = 0;
  let torn = false;
  for await (const entry of readMessages(readContextFile(file))) {
    if ("message" in entry) yield { message: entry.message };
    else if (entry.torn) torn = true;
    else {
      damaged += 1;
      if (shown.length < MAX_SHOWN) shown.push(entry);
    }
  }
  if (damaged > 0) yield { problem: `${file}: ${describeDamage(damaged, shown)}`, torn: false };
  if (torn) yield { problem: `${file}: the last record was cut off when it was written and is left out`, torn: true };
}

const MAX_SHOWN = 3;
const MAX_SHOWN_CHARACTERS = 200;

function describeDamage(damaged: number, shown: readonly LineProblem[]): string {
  const lines = shown.map(({ line, problem }) => `line ${line} ${problem}`.slice(0, MAX_SHOWN_CHARACTERS));
  if (damaged > shown.length) lines.push(`and ${damaged - shown.length} more`);
  return `${damaged === 1 ? "a line" : `${damaged} lines`} that cannot be read left out: ${lines.join("; ")}`;
}
