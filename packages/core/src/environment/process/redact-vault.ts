/** Values shorter than this are left alone: replacing every `1` would make output unreadable. */
const MIN_SECRET_LENGTH = 8;

/** Replaces the values of a vault by `[vault:NAME]` in one text. */
export function redactVault(text: string, vault: Readonly<Record<string, string>> = {}): string {
  const redactor = new VaultRedactor(vault);
  return redactor.push(text) + redactor.end();
}

/**
 * Replaces the values of a vault by `[vault:NAME]` in text that comes in pieces.
 *
 * However the text is cut, the result is the same: leftmost first, the longest value where several begin at one place.
 * Text that may turn out to be the beginning of a value is held back until more has come. Values of fewer than eight
 * characters are left alone.
 */
export class VaultRedactor {
  readonly #names: ReadonlyMap<string, string>;
  readonly #values: readonly string[];
  /** Absent where there is nothing to look for, as for most commands. */
  readonly #anyValue: RegExp | undefined;
  #held = "";

  constructor(vault: Readonly<Record<string, string>> = {}) {
    const secrets = Object.entries(vault).filter(([, value]) => value.length >= MIN_SECRET_LENGTH);
    this.#names = new Map(secrets.map(([name, value]): [string, string] => [value, name]).reverse());
    this.#values = [...this.#names.keys()].sort((a, b) => b.length - a.length);
    if (!this.idle) this.#anyValue = new RegExp(this.#values.map(escapeRegExp).join("|"), "g");
  }

  /** There is nothing to look for: text passes as it is. */
  get idle(): boolean {
    return this.#values.length === 0;
  }

  /** Takes the next piece; returns what is ready. */
  push(text: string): string {
    if (this.idle) return text;
    return this.#redact(this.#held + text, (from, whole) => this.#holdFrom(whole, from));
  }

  /** Returns what was held back. */
  end(): string {
    return this.#redact(this.#held, (_, whole) => whole.length);
  }

  #redact(text: string, holdFrom: (from: number, text: string) => number): string {
    let ready = "";
    let from = 0;
    for (;;) {
      const hold = holdFrom(from, text);
      const match = this.#find(text, from);
      if (!match || match.index >= hold) {
        this.#held = text.slice(hold);
        return ready + text.slice(from, hold);
      }
      ready += `${text.slice(from, match.index)}[vault:${this.#names.get(match[0])}]`;
      from = match.index + match[0].length;
    }
  }

  #find(text: string, from: number): RegExpExecArray | null | undefined {
    if (this.#anyValue) this.#anyValue.lastIndex = from;
    return this.#anyValue?.exec(text);
  }

  /** Where the first value begins that the text does not hold to its end; the length of the text when there is none. */
  #holdFrom(text: string, from: number): number {
    const starts = this.#values.map((value) => {
      const first = value.charAt(0);
      let start = text.indexOf(first, Math.max(from, text.length - value.length + 1));
      while (start !== -1 && !value.startsWith(text.slice(start))) start = text.indexOf(first, start + 1);
      return start === -1 ? text.length : start;
    });
    return Math.min(...starts);
  }
}

function escapeRegExp(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
}
