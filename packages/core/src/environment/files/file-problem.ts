import { getSystemErrorMap } from "node:util";
import { errorText } from "../../errors/error-text.ts";

/** Ends the work of a file tool; its message is the reason the model reads after `cannot read PATH: `. */
export class FileProblem extends Error {}

/** The reason in a few words: a problem's own message, or what the system calls its error, with the code. */
export function problemText(error: unknown): string {
  const errno = error instanceof Error && "errno" in error ? Number(error.errno) : undefined;
  const known = errno === undefined ? undefined : getSystemErrorMap().get(errno);
  return known ? `${known[1]} (${known[0]})` : errorText(error);
}
