import { identityOf } from "./file-identity.ts";

/**
 * What the file tools of one session share: the content each file had when they last saw it, and one writer at a time.
 * Paths are real paths; a file with several hard links is one file under each of them.
 */
export class FileGuard {
  readonly #fingerprints: Map<string, string>;
  readonly #queues = new Map<string, Promise<unknown>>();

  /** @param seen - What tools of this session saw before: fingerprints by real paths. */
  constructor(seen: ReadonlyMap<string, string> = new Map()) {
    this.#fingerprints = new Map(seen);
  }

  /** Remembers a file as it was just read or written, by its sha256 or what stands for that (`fingerprintOf`). */
  remember(realPath: string, fingerprint: string): void {
    this.#fingerprints.set(realPath, fingerprint);
    this.#fingerprints.set(identityOf(realPath), fingerprint);
  }

  /** What a tool of this session last saw; absent for a file never seen. */
  lastSeen(realPath: string): string | undefined {
    return this.#fingerprints.get(identityOf(realPath)) ?? this.#fingerprints.get(realPath);
  }

  /** Runs `work` when every earlier work on the same file has ended, whatever its end. */
  async exclusively<T>(realPath: string, work: () => Promise<T>): Promise<T> {
    const file = identityOf(realPath);
    const before = this.#queues.get(file) ?? Promise.resolve();
    const mine = before.then(work, work);
    const settled = mine.catch(() => undefined);
    this.#queues.set(file, settled);
    try {
      return await mine;
    } finally {
      if (this.#queues.get(file) === settled) this.#queues.delete(file);
    }
  }
}
