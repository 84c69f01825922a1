/** A place in the text of a command line, moved on by what reads it. */
export class Cursor {
  readonly #text: string;
  at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  get isAtEnd(): boolean {
    return this.at >= this.#text.length;
  }

  /** The character `offset` ahead; empty past the end. */
  peek(offset = 0): string {
    return this.#text[this.at + offset] ?? "";
  }

  take(): string {
    return this.#text[this.at++] ?? "";
  }

  /** Takes what a sticky pattern finds here, less continuations; undefined where it finds nothing. */
  match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.at;
    const [found] = pattern.exec(this.#text) ?? [];
    if (found !== undefined) this.at += found.length;
    return found?.replaceAll("\\\n", "");
  }

  /** Takes the text before `sign`, and drops the sign; undefined, and nothing taken, where it does not come. */
  upTo(sign: string): string | undefined {
    const end = this.#text.indexOf(sign, this.at);
    if (end === -1) return undefined;
    const text = this.#text.slice(this.at, end);
    this.at = end + sign.length;
    return text;
  }

  rest(): string {
    const text = this.#text.slice(this.at);
    this.at = this.#text.length;
    return text;
  }

  /** A backslash before a newline, which the shell takes out before it looks at anything else. */
  skipContinuations(): boolean {
    const start = this.at;
    while (this.peek() === "\\" && this.peek(1) === "\n") this.at += 2;
    return this.at > start;
  }

  /** Blanks, continuations and a comment. */
  skipBlanks(): void {
    for (;;) {
      if (this.peek() === " " || this.peek() === "\t") this.at++;
      else if (this.peek() === "#") this.at = this.#lineEnd();
      else if (!this.skipContinuations()) return;
    }
  }

  #lineEnd(): number {
    const end = this.#text.indexOf("\n", this.at);
    return end === -1 ? this.#text.length : end;
  }
}
