import { OutputWindow } from "../output-window.ts";
import { OutputCleaner } from "./clean-output.ts";
import type { ProcessChunk } from "./decode-output.ts";
import { redactVault } from "./redact-vault.ts";

/** Of each stream: what is left of its middle fits what is kept of a call's details. */
const MAX_STREAM_CHARS = 25_000;

/** How many lines of each stream are let through; absent: all. */
export type StreamLimits = Partial<Readonly<Record<ProcessChunk["stream"], number>>>;

/** Keeps the two streams of a command apart, each in bounded memory, and cuts them after so many lines. */
export class SplitStreams {
  readonly #streams: Readonly<Record<ProcessChunk["stream"], KeptStream>>;
  readonly #vault: Readonly<Record<string, string>> | undefined;

  constructor(limits: StreamLimits, vault: Readonly<Record<string, string>> | undefined) {
    this.#streams = { stdout: new KeptStream(limits.stdout), stderr: new KeptStream(limits.stderr) };
    this.#vault = vault;
  }

  /** Passes on what is within the limits and keeps it. */
  async *pass(output: AsyncIterable<ProcessChunk>): AsyncGenerator<ProcessChunk> {
    for await (const chunk of output) {
      const { stream, text, plain } = chunk;
      const kept = this.#streams[stream].take(text, plain !== undefined);
      if (kept.length === text.length) yield chunk;
      else if (kept !== "") yield { stream, text: kept };
    }
  }

  /** What each stream showed, once all has passed. */
  end(): Readonly<Record<ProcessChunk["stream"], string>> {
    const { stdout, stderr } = this.#streams;
    return { stdout: redactVault(stdout.end(), this.#vault), stderr: redactVault(stderr.end(), this.#vault) };
  }

  /** A line for each stream that was cut. */
  get notes(): string[] {
    return (["stdout", "stderr"] as const).flatMap((name) => {
      const { isCut, lines } = this.#streams[name];
      return isCut ? [`[${name} cut after ${lines} lines]`] : [];
    });
  }
}

class KeptStream {
  lines = 0;
  isCut = false;
  readonly #maxLines: number;
  readonly #cleaner = new OutputCleaner();
  readonly #window = new OutputWindow(MAX_STREAM_CHARS, "head_tail");
  #head = "";

  constructor(maxLines: number | undefined) {
    this.#maxLines = maxLines ?? Number.POSITIVE_INFINITY;
  }

  /** The part of a text that is within the limit. */
  take(text: string, plain: boolean): string {
    const kept = this.#maxLines === Number.POSITIVE_INFINITY ? text : text.slice(0, this.#endOfLines(text));
    this.isCut ||= kept.length < text.length;
    this.#head += this.#window.push(this.#cleaner.push(kept, plain));
    return kept;
  }

  end(): string {
    this.#head += this.#window.push(this.#cleaner.flush());
    const { text, omittedChars } = this.#window.end();
    return omittedChars === 0
      ? this.#head + text
      : `${this.#head}\n[... ${omittedChars} characters omitted ...]\n${text}`;
  }

  #endOfLines(text: string): number {
    let end = 0;
    for (; this.lines < this.#maxLines; this.lines++) {
      const feed = text.indexOf("\n", end);
      if (feed === -1) return text.length;
      end = feed + 1;
    }
    return end;
  }
}
