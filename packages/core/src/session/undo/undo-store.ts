import { join } from "node:path";
import type { OnWarning } from "../../environment/contract.ts";
import { problemText } from "../../environment/files/file-problem.ts";
import { openIfPresent } from "../../environment/files/open-regular-file.ts";
import { BlobStore, bytesBelow } from "./blob-store.ts";
import { type ContentRef, type FileState, presentState } from "./file-state.ts";
import { BlobReader } from "./git/blob-reader.ts";
import { GitProblem, PrivateRepository } from "./git/private-repository.ts";
import { appendEntry, type JournalEntry, readJournal } from "./journal.ts";
import type { UndoLimits } from "./settings.ts";

/** Where what undo keeps lies: the journal, contents, and the repository of snapshots. */
export class UndoStore {
  readonly directory: string;
  readonly limits: UndoLimits;
  readonly repository: PrivateRepository;
  readonly #blobs: BlobStore;
  readonly #gitBlobs: BlobReader;
  readonly #onWarning: OnWarning;
  readonly #warnedOf = new Set<string>();
  #usedBytes: Promise<number> | undefined;
  #lastTask: number | undefined;

  constructor(directory: string, limits: UndoLimits, env: NodeJS.ProcessEnv, onWarning: OnWarning) {
    this.directory = directory;
    this.limits = limits;
    this.repository = new PrivateRepository(join(directory, "git"), env);
    this.#blobs = new BlobStore(join(directory, "blobs"));
    this.#gitBlobs = new BlobReader(this.repository);
    this.#onWarning = onWarning;
  }

  /** The lines of the journal, oldest first. @throws What the file system reports. */
  entries(): JournalEntry[] {
    return readJournal(this.#journalFile);
  }

  /** Begins the next task. @throws What the file system reports. */
  beginTask(about: { readonly prompt?: string; readonly undoes?: number }): number {
    this.#lastTask ??= this.entries().reduce((last, { task }) => Math.max(last, task), 0);
    const task = this.#lastTask + 1;
    this.add({ type: "begin", task, at: new Date().toISOString(), ...about });
    this.#lastTask = task;
    return task;
  }

  /** @throws What the file system reports. */
  add(entry: JournalEntry): void {
    appendEntry(this.#journalFile, entry);
  }

  /** Keeps what is at a path, where that is a regular file or a link and may be kept. Never rejects. */
  async keep(path: string): Promise<FileState> {
    try {
      const present = presentState(path);
      if (present.kind === "link" || present.kind === "absent") return present;
      const file = await openIfPresent(path);
      if (file === undefined) return { kind: "absent" };
      try {
        const { size, mode } = file.stats;
        const reason = size > this.limits.maxFileBytes ? TOO_LONG : (await this.#fits(size)) ? undefined : FULL;
        if (reason !== undefined) return this.#unkept(path, reason);
        const { sha256, addedBytes } = await this.#blobs.keepFile(file);
        await this.#grow(addedBytes);
        return { kind: "file", content: `sha256:${sha256}`, mode: mode & 0o7777 };
      } finally {
        file.close();
      }
    } catch (error) {
      return this.#unkept(path, problemText(error));
    }
  }

  /** Keeps a text of our own. @throws What the file system reports. */
  async keepText(text: string): Promise<string> {
    const { sha256, addedBytes } = await this.#blobs.keepBytes(Buffer.from(text));
    await this.#grow(addedBytes);
    return sha256;
  }

  /** A content by its name; absent where it was not kept or is not whole any more. `endReading` follows, and one call at a time. */
  async read(content: ContentRef): Promise<Buffer | undefined> {
    const hash = content.slice(content.indexOf(":") + 1);
    return content.startsWith("sha256:") ? await this.#blobs.read(hash) : await this.#gitBlobs.read(hash);
  }

  endReading(): void {
    this.#gitBlobs.close();
  }

  /** Whether there is room for more. */
  async hasRoom(): Promise<boolean> {
    return await this.#fits(0);
  }

  async #grow(bytes: number): Promise<void> {
    const used = await this.#used();
    this.#usedBytes = Promise.resolve(used + bytes);
  }

  /** Counts again what is there. */
  recount(): void {
    this.#usedBytes = undefined;
  }

  /** Tells once of each kind of thing that undo will not be able to do. */
  warn(kind: string, message: string): void {
    if (this.#warnedOf.has(kind)) return;
    this.#warnedOf.add(kind);
    this.#onWarning({ code: "undo-incomplete", message });
  }

  get #journalFile(): string {
    return join(this.directory, "journal.jsonl");
  }

  async #fits(bytes: number): Promise<boolean> {
    return (await this.#used()) + bytes <= this.limits.maxBytes;
  }

  #used(): Promise<number> {
    this.#usedBytes ??= bytesBelow(this.directory);
    return this.#usedBytes;
  }

  #unkept(path: string, reason: string): FileState {
    this.warn(reason, `${path} was not kept, so its change cannot be undone: ${reason}`);
    return { kind: "unkept", reason };
  }
}

export const TOO_LONG = "it is longer than undo.max_file_bytes";
const FULL = "what undo keeps of this session has reached undo.max_bytes";

/** Why a snapshot was not taken, for a person. */
export function gitReason(error: unknown): string {
  return error instanceof GitProblem ? error.message : problemText(error);
}
