import { chmodSync, fchmodSync, fstatSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { makeDirectories } from "./make-directories.ts";

/** Creates directories only their owner can enter, whatever the umask; one that is already there stays as it is. */
export function ensurePrivateDirectory(directory: string): void {
  for (const made of makeDirectories(directory, 0o700)) chmodSync(made, 0o700);
}

/**
 * Opens a file for reading and appending, and creates it, and its directory, for its owner alone whatever the umask.
 *
 * @param mode - `create` fails with `EEXIST` where a file is already.
 */
export function openPrivateFile(path: string, mode: "append" | "create"): number {
  ensurePrivateDirectory(dirname(path));
  const fd = openSync(path, mode === "create" ? "ax+" : "a+", 0o600);
  if (fstatSync(fd).size === 0) fchmodSync(fd, 0o600);
  return fd;
}
