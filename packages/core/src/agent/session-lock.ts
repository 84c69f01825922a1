import { acquireLock, type SessionLock } from "../trace/lock.ts";
import type { SessionPaths } from "../trace/session-paths.ts";

/** Gives `open` the lock of a session, which is released if that fails. @throws {RookeryError} `session-locked`, `root-unwritable`. */
export async function locked<T>({ lockFile }: SessionPaths, open: (lock: SessionLock) => Promise<T>): Promise<T> {
  const lock = acquireLock(lockFile);
  try {
    return await open(lock);
  } catch (error) {
    lock.release();
    throw error;
  }
}
