import type { BackgroundNotices } from "../engine/background-notices.ts";
import type { OnWarning } from "../environment/contract.ts";
import { errorText } from "../errors/error-text.ts";

/** Tells a session's host of notices that no run is there to take. */
export class BackgroundHost {
  readonly #notices: BackgroundNotices;
  readonly #isIdle: () => boolean;
  readonly #onWarning: OnWarning;
  readonly #listeners = new Set<() => void>();

  constructor(notices: BackgroundNotices, isIdle: () => boolean, onWarning: OnWarning) {
    this.#notices = notices;
    this.#isIdle = isIdle;
    this.#onWarning = onWarning;
    notices.onSettled(() => this.tell());
  }

  /** From now on, and soon if something waits already; until the returned function is called. */
  add(listener: () => void): () => void {
    // The same function may be given twice.
    const own = (): void => listener();
    this.#listeners.add(own);
    queueMicrotask(() => this.#listeners.has(own) && this.#tell(own));
    return () => void this.#listeners.delete(own);
  }

  /** To be called whenever the session may have become idle. */
  tell(): void {
    for (const listener of this.#listeners) this.#tell(listener);
  }

  #tell(listener: () => void): void {
    if (!this.#isIdle() || !this.#notices.hasNews) return;
    try {
      listener();
    } catch (error) {
      this.#onWarning({
        code: "listener-failed",
        message: `a listener to background notices failed: ${errorText(error)}`,
      });
    }
  }
}
