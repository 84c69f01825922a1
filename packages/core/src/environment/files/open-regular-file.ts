import { closeSync, constants, fstatSync, openSync, read, readSync, type Stats } from "node:fs";
import { promisify } from "node:util";
import { errorCode } from "../../errors/error-text.ts";
import { describeMissingPath } from "./describe-missing-path.ts";
import { FileProblem } from "./file-problem.ts";
import { inPinnedDirectory } from "./pinned-directory.ts";

/** Opening a FIFO or a terminal with these neither waits nor takes it over; a link put in the way is not followed. */
const READ_FLAGS = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY | constants.O_NOFOLLOW;

/** A regular file open for reading; whoever opened it closes it. What is longer than a moment's work is read in the thread pool. */
export class OpenFile {
  readonly stats: Stats;
  readonly #fd: number;

  constructor(fd: number, stats: Stats) {
    this.#fd = fd;
    this.stats = stats;
  }

  /** Fills `buffer` from `position` on. @returns The number of bytes that were read; zero at the end. */
  async read(buffer: Buffer, position: number): Promise<number> {
    if (buffer.length <= MOMENT_BYTES) return readSync(this.#fd, buffer, 0, buffer.length, position);
    return (await readAt(this.#fd, buffer, 0, buffer.length, position)).bytesRead;
  }

  close(): void {
    closeSync(this.#fd);
  }
}

const readAt = promisify(read);
const MOMENT_BYTES = 64 * 1024;

/**
 * Opens a regular file for reading.
 *
 * @throws {FileProblem} nothing is there, or it is a directory, FIFO, device or socket; otherwise the system's own error.
 */
export async function openRegularFile(realPath: string): Promise<OpenFile> {
  const file = await openIfPresent(realPath);
  if (file === undefined) throw new FileProblem(await describeMissingPath(realPath));
  return file;
}

/** As `openRegularFile`, in the directory that the path named when it was resolved, whatever is put there meanwhile. */
export async function openContained(realPath: string): Promise<OpenFile> {
  const file = await inPinnedDirectory(realPath, openIfPresent).catch((error: unknown) => {
    if (!["ENOENT", "ENOTDIR"].includes(errorCode(error) ?? "")) throw error;
  });
  if (file) return file;
  throw new FileProblem(await describeMissingPath(realPath));
}

/** As `openRegularFile`, but `undefined` where nothing is and something could be made. */
export async function openIfPresent(realPath: string): Promise<OpenFile | undefined> {
  const fd = await openForReading(realPath);
  if (fd === undefined) return undefined;
  const stats = fstatSync(fd);
  if (stats.isFile()) return new OpenFile(fd, stats);
  closeSync(fd);
  throw new FileProblem(describeKind(stats));
}

async function openForReading(realPath: string): Promise<number | undefined> {
  try {
    return openSync(realPath, READ_FLAGS);
  } catch (error) {
    const code = errorCode(error);
    if (code === "ENOENT") return undefined;
    if (code === "ENOTDIR") throw new FileProblem(await describeMissingPath(realPath));
    if (code === "ENXIO" || code === "EOPNOTSUPP") throw new FileProblem(notRegular("a socket or a dead device"));
    throw error;
  }
}

function describeKind(stats: Stats): string {
  if (stats.isDirectory()) return "it is a directory, not a file; name a file in it, or list it with the shell";
  return notRegular(stats.isFIFO() ? "a named pipe (FIFO)" : "a device");
}

function notRegular(kind: string): string {
  return `it is ${kind}, not a regular file; use the shell if you have to work with it`;
}
