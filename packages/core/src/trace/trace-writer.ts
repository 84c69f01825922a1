import { closeSync, fstatSync, fsyncSync, readSync, renameSync, rmSync } from "node:fs";
import { errorCode, errorText } from "../errors/error-text.ts";
import { toJsonLine } from "../omnimessage/json-lines.ts";
import type { OmniMessage } from "../omnimessage/message.ts";
import { isOnRecord } from "../omnimessage/on-record.ts";
import { contextFile, contextNumbers } from "./context-files.ts";
import { openPrivateFile } from "./private-files.ts";
import { writeWhole } from "./write-whole.ts";

export interface TraceWriterOptions {
  /** Told once per distinct system code (`ENOSPC` …) that records are being lost; the message is for people. */
  readonly onFailure?: (error: Error) => void;
}

/**
 * Appends the records of one session to its trace, one `write(2)` each, so that a record is with the system before
 * anybody else sees the message.
 *
 * The caller holds the session's lock. Writing never throws: a session outlives a full disk, and each further record is
 * tried again. What an interrupted write left without its newline is closed off by the record after it.
 */
export class TraceWriter {
  readonly #directory: string;
  readonly #onFailure: (error: Error) => void;
  readonly #reported = new Set<string>();
  #context: number;
  #fd: number | undefined;

  /**
   * Goes on in the newest context of a trace; creates nothing before the first record.
   *
   * @param directory - `SessionPaths.traceDir`.
   * @throws {RookeryError} `trace-corrupt` for a directory that is there and cannot be listed.
   */
  static open(directory: string, options: TraceWriterOptions = {}): TraceWriter {
    return new TraceWriter(directory, options);
  }

  private constructor(directory: string, options: TraceWriterOptions) {
    this.#directory = directory;
    this.#onFailure = options.onFailure ?? (() => undefined);
    this.#context = contextNumbers(directory).at(-1) ?? 1;
  }

  /** The file that records go to. */
  get file(): string {
    return contextFile(this.#directory, this.#context);
  }

  /**
   * Appends a message that belongs on record (`isOnRecord`) and ignores others.
   *
   * @returns False when it belongs there and could not be written.
   */
  record(message: OmniMessage): boolean {
    if (!isOnRecord(message)) return true;
    return this.#attempt(this.file, () => {
      const line = toJsonLine(message);
      if (this.#fd !== undefined) return writeWhole(this.#fd, Buffer.from(line));
      this.#fd = openPrivateFile(this.file, "append");
      writeWhole(this.#fd, Buffer.from(endsMidLine(this.#fd) ? `\n${line}` : line));
    });
  }

  /**
   * Starts the next context with a history that replaces the one before. Its file appears whole or not at all.
   *
   * @param records - `session_meta` with `carried`, then as many messages as that says.
   * @returns False when the file could not be written; records then go on to the file before.
   */
  startContext(records: readonly OmniMessage[]): boolean {
    const next = contextFile(this.#directory, this.#context + 1);
    return this.#attempt(next, () => {
      const fd = writeComplete(next, records);
      this.close();
      this.#fd = fd;
      this.#context += 1;
    });
  }

  /** Lets go of the file; a later record opens it again. */
  close(): void {
    const fd = this.#fd;
    this.#fd = undefined;
    if (fd !== undefined) closeQuietly(fd);
  }

  /** Closes after a failure, so that the next record looks again at how the file ends. */
  #attempt(file: string, work: () => void): boolean {
    try {
      work();
      return true;
    } catch (error) {
      this.close();
      const reason = errorText(error);
      const code = errorCode(error) ?? reason;
      if (!this.#reported.has(code)) {
        this.#reported.add(code);
        this.#onFailure(
          new Error(`cannot record the session in ${file}: ${reason}; until that is mended its trace has gaps`, {
            cause: error,
          }),
        );
      }
      return false;
    }
  }
}

function endsMidLine(fd: number): boolean {
  const { size } = fstatSync(fd);
  if (size === 0) return false;
  const last = Buffer.alloc(1);
  readSync(fd, last, 0, 1, size - 1);
  return last[0] !== LF;
}

const LF = 0x0a;

/** Writes a file under another name, flushes it and renames it; the descriptor stays open for appending. */
function writeComplete(file: string, records: readonly OmniMessage[]): number {
  const draft = `${file}.tmp`;
  rmSync(draft, { force: true });
  const fd = openPrivateFile(draft, "create");
  try {
    for (const message of records) writeWhole(fd, Buffer.from(toJsonLine(message)));
    fsyncSync(fd);
    renameSync(draft, file);
    return fd;
  } catch (error) {
    closeQuietly(fd);
    rmSync(draft, { force: true });
    throw error;
  }
}

/** Closing reports what was already lost, and nobody could act on it here. */
function closeQuietly(fd: number): void {
  try {
    closeSync(fd);
  } catch {}
}
