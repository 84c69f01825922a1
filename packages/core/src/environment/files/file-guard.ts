/**
 * What the file tools of one session share: the content each file had when they last saw it, and one writer at a time.
 * Paths are real paths.
 */
export class FileGuard {
  readonly #hashes = new Map<string, string>();
  readonly #queues = new Map<string, Promise<unknown>>();

  /** Remembers the sha256 of a file as it was just read or written. */
  remember(realPath: string, sha256: string): void {
    this.#hashes.set(realPath, sha256);
  }

  /** The sha256 a tool of this session last saw; absent for a file never seen. */
  lastSeen(realPath: string): string | undefined {
    return this.#hashes.get(realPath);
  }

  /** Runs `work` when every earlier work on the same file has ended, whatever its end. */
  async exclusively<T>(realPath: string, work: () => Promise<T>): Promise<T> {
    const before = this.#queues.get(realPath) ?? Promise.resolve();
    const mine = before.then(work, work);
    const settled = mine.catch(() => undefined);
    this.#queues.set(realPath, settled);
    try {
      return await mine;
    } finally {
      if (this.#queues.get(realPath) === settled) this.#queues.delete(realPath);
    }
  }
}
