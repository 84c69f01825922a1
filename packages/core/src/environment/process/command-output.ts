import { type OutputPiece, pieceText } from "../output-piece.ts";
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
    const { stream, bytes } = chunk;
    this.#lastStream = stream;
    this.#raw.push(bytes ?? chunk.text);
    const cleaner = this.#cleaners[stream];
    const clean = (text: string): string => this.#show(this.#redactor.push(cleaner.push(text, bytes !== undefined)));
    const lines = bytes && this.#redactor.idle && wholeLines(bytes);
    if (!lines) return [clean(chunk.text)];
    const first = clean(lines.before);
    if (!cleaner.isAtLineStart) return [first, clean(pieceText(lines.bytes) + lines.after)];
    this.#shown.push(lines.bytes);
    return [first, lines.bytes, clean(lines.after)];
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

/** The lines that begin and end in plain bytes, between the end of one and the beginning of another; absent for few. */
function wholeLines(bytes: Buffer): { before: string; bytes: Buffer; after: string } | undefined {
  const start = bytes.indexOf(NEWLINE) + 1;
  const end = bytes.lastIndexOf(NEWLINE) + 1;
  if (end - start < MIN_LINES_BYTES) return undefined;
  return {
    before: bytes.toString("latin1", 0, start),
    bytes: bytes.subarray(start, end),
    after: bytes.toString("latin1", end),
  };
}
