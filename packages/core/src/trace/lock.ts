import { randomBytes } from "node:crypto";
import { linkSync, lstatSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { basename, dirname } from "node:path";
import { errorCode, errorText } from "../errors/error-text.ts";
import { RookeryError } from "../errors/rookery-error.ts";
import { ensurePrivateDirectory } from "./private-files.ts";
import { processStart } from "./process-start.ts";

/** The right to write one session. */
export interface SessionLock {
  /** Gives it back; may be called twice, never throws, and never removes the lock of somebody else. */
  release(): void;
}

/**
 * Makes this process the only writer of a session. The lock of a process that is gone is taken over, also when its pid
 * now belongs to another program (where the system tells when a process started: Linux).
 *
 * @param path - `SessionPaths.lockFile`; its directory is created where it is missing.
 * @throws {RookeryError} `session-locked` when a living process, or another host, holds it; `root-unwritable` when the
 *   file cannot be created.
 */
export function acquireLock(path: string): SessionLock {
  try {
    const owner = takeLock(path);
    return { release: () => releaseLock(path, owner) };
  } catch (error) {
    if (RookeryError.is(error)) throw error;
    throw new RookeryError("root-unwritable", `cannot lock the session with ${path}: ${errorText(error)}`, {
      hint: "make room and rights for it, or name another data directory with --root or ROOKERY_HOME",
      cause: error,
    });
  }
}

function takeLock(path: string): LockOwner {
  const mine = newOwner();
  ensurePrivateDirectory(dirname(path));
  for (;;) {
    if (createLock(path, mine)) return mine;
    const owner = readOwner(path);
    if (owner === undefined) continue;
    if (isAlive(owner)) throw lockedBy(owner, path);
    // Which of several takers removes a dead owner's lock is settled by a lock of its own, named after that owner: the
    // file can then not have become somebody else's between reading and removing it.
    const claim = `${path}.${owner.nonce}`;
    const claimant = takeLock(claim);
    try {
      removeLock(path, owner);
    } finally {
      removeLock(claim, claimant);
    }
  }
}

interface LockOwner {
  readonly pid: number;
  /** When the process started, in the system's own terms; absent where that cannot be found out. */
  readonly started?: string;
  readonly host: string;
  /** Tells two locks of one process apart. */
  readonly nonce: string;
}

function newOwner(): LockOwner {
  const started = processStart(process.pid);
  return {
    pid: process.pid,
    ...(started !== undefined && { started }),
    host: hostname(),
    nonce: randomBytes(8).toString("hex"),
  };
}

/** Creates the lock with its content in one step, by a link, so that nobody ever reads half of one. */
function createLock(path: string, owner: LockOwner): boolean {
  const draft = `${path}.${owner.nonce}.new`;
  try {
    writeFileSync(draft, `${JSON.stringify(owner)}\n`, { mode: 0o600 });
    return linkUnlessTaken(draft, path);
  } finally {
    rmSync(draft, { force: true });
  }
}

function linkUnlessTaken(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if (errorCode(error) === "EEXIST") return false;
    throw error;
  }
}

/** The owner on file; absent when there is no lock. A link that leads nowhere is a lock, and nobody's. */
function readOwner(path: string): LockOwner | undefined {
  try {
    return parseOwner(readFileSync(path, "utf8"));
  } catch (error) {
    if (errorCode(error) !== "ENOENT") throw error;
    return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ? parseOwner("") : undefined;
  }
}

/** A lock appears whole, so that one which cannot be read is what a power cut left: nobody's. */
function parseOwner(text: string): LockOwner {
  try {
    const { pid, started, host, nonce } = JSON.parse(text) as Partial<Record<keyof LockOwner, unknown>>;
    if (
      Number.isInteger(pid) &&
      typeof host === "string" &&
      typeof nonce === "string" &&
      /^[0-9a-f]{16}$/.test(nonce)
    ) {
      return { pid: pid as number, host, nonce, ...(typeof started === "string" && { started }) };
    }
  } catch {}
  return { pid: NOBODY, host: hostname(), nonce: "unreadable" };
}

const NOBODY = 0;

/** Processes of another host cannot be looked at and count as alive. */
function isAlive({ pid, started, host }: LockOwner): boolean {
  if (host !== hostname()) return true;
  if (pid <= NOBODY || !processExists(pid)) return false;
  return started === undefined || processStart(pid) === started;
}

function processExists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) === "EPERM";
  }
}

function lockedBy({ pid, host }: LockOwner, path: string): RookeryError {
  const session = basename(dirname(path));
  if (host === hostname() && pid === process.pid) {
    return new RookeryError("session-locked", `session ${session} is open in this process`, {
      hint: "go on with the Session that has it open, with its undo() too, or dispose of that first",
    });
  }
  if (host === hostname()) {
    return new RookeryError("session-locked", `session ${session} is in use by process ${pid}`, {
      hint: "end that process, or use another session",
    });
  }
  return new RookeryError("session-locked", `session ${session} is in use by process ${pid} on host ${host}`, {
    hint: `if that process is gone, remove ${path}`,
  });
}

/** A lock that cannot be removed is void when its process ends. */
function releaseLock(path: string, owner: LockOwner): void {
  try {
    removeLock(path, owner);
  } catch {}
}

function removeLock(path: string, owner: LockOwner): void {
  if (readOwner(path)?.nonce === owner.nonce) rmSync(path, { force: true });
}
