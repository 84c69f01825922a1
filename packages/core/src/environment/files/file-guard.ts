import { type WriteReport, writeFileAtomically } from "./atomic-write.ts";
import { sha256 } from "./content-hash.ts";
import { identityOf } from "./file-identity.ts";

/** Told of a change before it is made, and waited for; never rejects. `sha256` is of the content to come. */
export type BeforeChange = (realPath: string, sha256: string) => Promise<void>;

/**
 * What the file tools of one session share: the content each file had when they last saw it, and one writer at a time.
 * Paths are real paths; a file with several hard links is one file under each of them.
 */
export class FileGuard {
  readonly #fingerprints: Map<string, string>;
  readonly #beforeChange: BeforeChange | undefined;
  readonly #queues = new Map<string, Promise<unknown>>();

  /**
   * @param seen - What tools of this session saw before: fingerprints by real paths.
   * @param beforeChange - Default: nobody is told.
   */
  constructor(seen: ReadonlyMap<string, string> = new Map(), beforeChange?: BeforeChange) {
    this.#fingerprints = new Map(seen);
    this.#beforeChange = beforeChange;
  }

  /**
   * Gives a file its new content: the one way in which a file tool may. Whoever keeps what was there is told first; what is
   * there then is remembered. To be called inside of `exclusively`.
   *
   * @param write - How the content gets to its place.
   * @throws What `write` throws.
   */
  async install(
    realPath: string,
    content: Buffer,
    write: (realPath: string, content: Buffer) => Promise<WriteReport> = writeFileAtomically,
  ): Promise<WriteReport & { readonly sha256: string }> {
    const hash = sha256(content);
    await this.#beforeChange?.(realPath, hash);
    const report = await write(realPath, content);
    this.remember(realPath, hash);
    return { sha256: hash, ...report };
  }

  /** Remembers a file as it was just read or written, by its sha256 or what stands for that (`fingerprintOf`). */
  remember(realPath: string, fingerprint: string): void {
    this.#fingerprints.set(realPath, fingerprint);
    this.#fingerprints.set(identityOf(realPath), fingerprint);
  }

  /** A file that is gone, or that nobody of this session has seen as it is now. */
  forget(realPath: string): void {
    this.#fingerprints.delete(realPath);
    this.#fingerprints.delete(identityOf(realPath));
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
