import { isType, type OmniMessage } from "@rookery/core";
import { shortened } from "./heading.ts";
import { oneLine } from "./neutralise.ts";

/**
 * What goes on just now, on the last line of a terminal until something else is written there.
 *
 * All functions return what is to be written, so that it goes the way of everything else.
 */
export class ProgressLine {
  readonly #columns: () => number;
  readonly #style: (text: string) => string;
  #isShown = false;

  constructor(columns: () => number, style: (text: string) => string = (text) => text) {
    this.#columns = columns;
    this.#style = style;
  }

  /** Shows the last line of a `tool_progress`; nothing for any other message. */
  show(message: OmniMessage): string {
    if (!isType(message, "tool_progress") || message.payload.text === undefined) return "";
    const lines = message.payload.text.trimEnd().split("\n");
    const line = oneLine(lines.at(-1) ?? "");
    return line === "" ? "" : this.replace(this.#style(`  ${shortened(line, this.#columns() - 3)}`));
  }

  /** Shows a line in place of the one before; it must fit. */
  replace(line: string): string {
    const erased = this.erase();
    this.#isShown = true;
    return erased + line;
  }

  /** Takes the line away, with the cursor where it began; nothing where none is shown. */
  erase(): string {
    if (!this.#isShown) return "";
    this.#isShown = false;
    // Blanks, so that no escape sequence is needed for it.
    return `\r${" ".repeat(this.#columns() - 1)}\r`;
  }
}

/** Whether a stream is a terminal on which a line can be taken back. */
export function canErase(stream: { readonly isTTY?: boolean }, env: NodeJS.ProcessEnv): boolean {
  return stream.isTTY === true && env.TERM !== "dumb";
}
