import { redactSecrets } from "../redact-secrets.ts";

/**
 * Takes secrets out of a text that comes in pieces, also where one lies across two of them. Whole lines come out at once,
 * and no more than some hundred thousand characters of a long one are held.
 */
export class PiecewiseRedaction {
  readonly #secrets: readonly string[];
  /** Longer than any spelling of a secret. */
  readonly #margin: number;
  #held = "";

  constructor(secrets: readonly string[]) {
    this.#secrets = secrets;
    this.#margin = Math.max(512, ...secrets.map((secret) => secret.length * 9));
  }

  /** @returns What can be shown now; may be empty. */
  push(piece: string): string {
    const lineEnd = piece.lastIndexOf("\n") + 1;
    const ready = lineEnd === 0 ? "" : this.#redact(this.#held + piece.slice(0, lineEnd));
    this.#held = lineEnd === 0 ? this.#held + piece : piece.slice(lineEnd);
    return this.#held.length > MAX_HELD_CHARACTERS ? ready + this.#shorten() : ready;
  }

  /** @returns The rest. */
  end(): string {
    const rest = this.#redact(this.#held);
    this.#held = "";
    return rest;
  }

  /** Lets go of the beginning of a long line, cut where it parts no secret. */
  #shorten(): string {
    const whole = this.#redact(this.#held);
    for (let kept = this.#margin; kept < this.#held.length; kept *= 2) {
      const start = this.#redact(this.#held.slice(0, -kept));
      if (start + this.#redact(this.#held.slice(-kept)) !== whole) continue;
      this.#held = this.#held.slice(-kept);
      return start;
    }
    this.#held = "";
    return whole;
  }

  #redact(text: string): string {
    return redactSecrets(text, this.#secrets);
  }
}

const MAX_HELD_CHARACTERS = 262_144;
