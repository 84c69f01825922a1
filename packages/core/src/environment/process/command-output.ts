import { type OutputPiece, ownCopy } from "../output-piece.ts";
import { OutputCleaner } from "./clean-output.ts";
import type { ProcessChunk } from "./decode-output.ts";
import { redactVault, VaultRedactor } from "./redact-vault.ts";
import { TextTail } from "./text-tail.ts";

const TAIL_BYTES = 4096;
/** Lines that are shorter in all are not worth keeping as bytes. */
const MIN_LINES_BYTES = 4096;
const NEWLINE = 0x0a;

/**
 * Makes of what a command prints on two streams the one text that is shown.
 *
 * Lines are merged in the order in which they end, so that each is whole. What the model reads is clean of terminal
 * control; the end of the output is also kept as it was printed.
 */
export class CommandOutput {
  readonly #cleaners: Readonly<Record<ProcessChunk["stream"], OutputCleaner>> = {
    stdout: new OutputCleaner(),
    stderr: new OutputCleaner(),
  };
  readonly #vault: Readonly<Record<string, string>> | undefined;
  // Once more: escape sequences inside a value hid it from the process runner.
  readonly #redactor: VaultRedactor;
  readonly #shown = new TextTail(TAIL_BYTES);
  readonly #raw = new TextTail(TAIL_BYTES);
  #lastStream: ProcessChunk["stream"] = "stdout";

  constructor(vault: Readonly<Record<string, string>> | undefined) {
    this.#vault = vault;
    this.#redactor = new VaultRedactor(vault);
  }

  /** Takes the next chunk; returns the text that is final, often none. */
  push(chunk: ProcessChunk): OutputPiece[] {
    const { stream, plain } = chunk;
    this.#lastStream = stream;
    for (const piece of plain ?? [chunk.text]) this.#raw.push(piece);
    const cleaner = this.#cleaners[stream];
    const clean = (text: string): string => {
      const ready = this.#redactor.push(cleaner.push(text, plain !== undefined));
      // Little is left of what is mostly terminal control.
      return this.#show(2 * ready.length < text.length ? ownCopy(ready) : ready);
    };
    const lines = plain && this.#redactor.idle && cleaner.isUndisturbed ? wholeLines(plain) : undefined;
    if (!lines) return [clean(chunk.text)];
    // They end the line that was begun before them.
    const begun = this.#show(cleaner.flush());
    for (const piece of lines.pieces) this.#shown.push(piece);
    return [begun, ...lines.pieces, clean(lines.rest)];
  }

  /** Returns the lines without an end as they are now, the stream that printed last behind the other; more may come. */
  flush(): string {
    const text = this.#show(this.#takeLines());
    // What comes next may redraw the line: in a snapshot both states would run together.
    if (text !== "") this.#shown.push("\n");
    return text;
  }

  /** Returns the rest. */
  end(): string {
    return this.#show(this.#takeLines() + this.#redactor.end());
  }

  /** The last 4 KiB of what a person would see now, lines without an end included. */
  snapshot(): string {
    const pending = this.#streams().map((stream) => this.#cleaners[stream].pending);
    return this.#shown.read(redactVault(pending.join(""), this.#vault));
  }

  /** The last 4 KiB as printed, where escape sequences are among them. */
  get ansi(): string | undefined {
    const raw = this.#raw.read();
    return raw.includes("\x1b") ? raw : undefined;
  }

  #takeLines(): string {
    const lines = this.#streams().map((stream) => this.#cleaners[stream].flush());
    return this.#redactor.push(lines.join(""));
  }

  #show(text: string): string {
    this.#shown.push(text);
    return text;
  }

  #streams(): readonly ProcessChunk["stream"][] {
    return this.#lastStream === "stdout" ? ["stderr", "stdout"] : ["stdout", "stderr"];
  }
}

/** Plain pieces up to the end of their last line, and the text behind it; absent where it is not worth it. */
function wholeLines(plain: readonly Buffer[]): { pieces: Buffer[]; rest: string } | undefined {
  const pieces = [...plain];
  let rest = "";
  for (let last = pieces.pop(); last; last = pieces.pop()) {
    const end = last.lastIndexOf(NEWLINE) + 1;
    rest = last.toString("latin1", end) + rest;
    if (end === 0) continue;
    const length = pieces.reduce((sum, piece) => sum + piece.length, end);
    return length < MIN_LINES_BYTES ? undefined : { pieces: [...pieces, last.subarray(0, end)], rest };
  }
  return undefined;
}
