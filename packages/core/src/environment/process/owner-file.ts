import { closeSync, readFileSync, rmSync } from "node:fs";
import { openPrivateFile } from "../../trace/private-files.ts";
import { writeWhole } from "../../trace/write-whole.ts";

/** By which owner the processes of a session are found, kept on disk while some may be alive. */
export class OwnerFile {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  /** The owner that a process left which could not clean up after itself; absent also when the file holds something else. */
  read(): string | undefined {
    try {
      // Nothing but a whole owner: a part of one would find the processes of others.
      return /^([0-9a-f]{24})\n$/.exec(readFileSync(this.#path, "latin1"))?.[1];
    } catch {
      return undefined;
    }
  }

  /** @throws what the system reports. */
  write(owner: string): void {
    this.remove();
    const fd = openPrivateFile(this.#path, "create");
    try {
      writeWhole(fd, Buffer.from(`${owner}\n`));
    } finally {
      closeSync(fd);
    }
  }

  /** @throws what the system reports, unless the file is not there. */
  remove(): void {
    rmSync(this.#path, { force: true });
  }
}
