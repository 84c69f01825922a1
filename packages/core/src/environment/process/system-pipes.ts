import { execFile } from "node:child_process";
import { closeSync, constants, openSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

/** A pipe with both ends open; whoever takes it closes them. */
export interface SystemPipe {
  readonly readFd: number;
  readonly writeFd: number;
}

/** Made at once, for that many outputs: it takes a program to make them. */
const BATCH = 16;

const spare: SystemPipe[] = [];
let making: Promise<void> | undefined;

/**
 * Pipes of the system for what a program prints. Node connects children by sockets, which Linux lets nobody open by their path: `>
 * /dev/stderr` and `tee /dev/stdout` would fail.
 *
 * @returns Absent where there are none, or no need of any.
 */
export async function takePipes(count: number): Promise<SystemPipe[] | undefined> {
  if (process.platform !== "linux") return undefined;
  try {
    while (spare.length < count) {
      making ??= makePipes().finally(() => {
        making = undefined;
      });
      await making;
    }
    return spare.splice(0, count);
  } catch {
    return undefined;
  }
}

/** Node makes no pipe, but opens the ends of a named one, whose name is not needed after that. */
async function makePipes(): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "rookery-pipes-"));
  try {
    const paths = Array.from({ length: BATCH }, (_, index) => join(directory, `${index}`));
    await promisify(execFile)("mkfifo", ["-m", "600", ...paths]);
    for (const path of paths) spare.push(openPipe(path));
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

function openPipe(path: string): SystemPipe {
  // Without O_NONBLOCK it would wait for a writer.
  const readFd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    return { readFd, writeFd: openSync(path, constants.O_WRONLY) };
  } catch (error) {
    closeSync(readFd);
    throw error;
  }
}
