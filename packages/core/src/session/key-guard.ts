import { RookeryError } from "../errors/rookery-error.ts";

/** The key of a session's model: the one its last request was made with, and the one the next would be. */
export interface SessionKey {
  used(): string | undefined;
  current(): Promise<string | undefined>;
}

/** After a refused key only another one gets a run (PC-026); a model of the caller's own has no key to compare. */
export class KeyGuard {
  readonly #key: SessionKey | undefined;
  #refused: { readonly key: string | undefined } | undefined;

  constructor(key: SessionKey | undefined) {
    this.#key = key;
  }

  /** The provider has refused the key of the last request. */
  refuse(): void {
    this.#refused = { key: this.#key?.used() };
  }

  /** @throws {RookeryError} `session-auth` while the key is still the one that was refused. */
  async assertChanged(): Promise<void> {
    if (!this.#refused || !this.#key) return;
    if ((await this.#key.current().catch(() => undefined)) === this.#refused.key) {
      throw new RookeryError("session-auth", "the provider refused the key of this session's model", {
        hint: "set a valid key and run again",
      });
    }
    this.#refused = undefined;
  }
}
