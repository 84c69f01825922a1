import { appendFileSync, closeSync, constants, fchmodSync, fstatSync, openSync } from "node:fs";
import { errorCode, errorText } from "../../errors/error-text.ts";
import { RookeryError } from "../../errors/rookery-error.ts";

/** A file of JSON lines for whoever looks for the cause of a failure. */
export interface DebugLog {
  /** Adds a line with the time in front; never throws. */
  write(record: Readonly<Record<string, unknown>>): void;
  /** Keeps the file open, also after {@link close}, until what it returns is called. */
  hold(): () => void;
  /** Closes the file, as soon as nobody holds it. */
  close(): void;
}

/**
 * Opens a log readable by its owner alone (0600); one that is there already is appended to.
 *
 * @param onFailure - Told once when a line cannot be written; none is tried after that.
 * @throws {RookeryError} `config-invalid` for what is not a regular file of this user, a symbolic link too, and for what
 *   cannot be opened.
 */
export function openDebugLog(file: string, onFailure: (message: string) => void): DebugLog {
  let fd: number | undefined = openPrivately(file);
  const close = (): void => {
    if (fd !== undefined) closeSync(fd);
    fd = undefined;
  };
  const holders = new Set<() => void>();
  let isClosing = false;
  return {
    write(record) {
      if (fd === undefined) return;
      try {
        appendFileSync(fd, `${JSON.stringify({ time: new Date().toISOString(), ...record })}\n`);
      } catch (error) {
        close();
        onFailure(`the debug log ${file} cannot be written any more: ${errorCode(error) ?? errorText(error)}`);
      }
    },
    hold() {
      const release = (): void => {
        holders.delete(release);
        if (isClosing && holders.size === 0) close();
      };
      holders.add(release);
      return release;
    },
    close() {
      isClosing = true;
      if (holders.size === 0) close();
    },
  };
}

// Neither follows a link nor waits for the other end of a pipe.
const FLAGS = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK;

function openPrivately(file: string): number {
  let fd: number;
  try {
    fd = openSync(file, FLAGS, 0o600);
  } catch (error) {
    throw unusable(
      file,
      errorCode(error) === "ELOOP" ? "it is a symbolic link" : (errorCode(error) ?? errorText(error)),
    );
  }
  const found = fstatSync(fd);
  const problem = !found.isFile()
    ? "it is not a regular file"
    : found.uid !== process.geteuid?.()
      ? "it belongs to another user"
      : undefined;
  if (problem === undefined) {
    fchmodSync(fd, 0o600);
    return fd;
  }
  closeSync(fd);
  throw unusable(file, problem);
}

function unusable(file: string, found: string): RookeryError {
  return new RookeryError("config-invalid", `cannot write a debug log to ${file}: ${found}`, {
    hint: "name a new file, or one of your own",
  });
}
