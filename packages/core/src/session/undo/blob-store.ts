import { createHash, randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { type FileHandle, lstat, open, readdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { sha256 } from "../../environment/files/content-hash.ts";
import type { OpenFile } from "../../environment/files/open-regular-file.ts";
import { readChunks } from "../../environment/files/read-chunks.ts";
import { ensurePrivateDirectory } from "../../trace/private-files.ts";

/** Contents by their sha256, each once; the directory and the files are their owner's alone. */
export class BlobStore {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /**
   * Copies a file in, a piece at a time.
   *
   * @returns Its hash, and how many bytes the store has grown by. @throws What the file system reports.
   */
  async keepFile(file: OpenFile): Promise<{ readonly sha256: string; readonly addedBytes: number }> {
    return await this.#keep(async (copy) => {
      const hash = createHash("sha256");
      let bytes = 0;
      for await (const chunk of readChunks(file)) {
        hash.update(chunk);
        bytes += chunk.length;
        await copy.writeFile(chunk);
      }
      return { sha256: hash.digest("hex"), bytes };
    });
  }

  async keepBytes(content: Buffer): Promise<{ readonly sha256: string; readonly addedBytes: number }> {
    return await this.#keep(async (copy) => {
      await copy.writeFile(content);
      return { sha256: sha256(content), bytes: content.length };
    });
  }

  /** Absent where it is not there, or not whole any more. */
  async read(hash: string): Promise<Buffer | undefined> {
    const content = await readFile(this.#pathOf(hash)).catch(() => undefined);
    return content && sha256(content) === hash ? content : undefined;
  }

  async #keep(
    fill: (copy: FileHandle) => Promise<{ sha256: string; bytes: number }>,
  ): Promise<{ sha256: string; addedBytes: number }> {
    ensurePrivateDirectory(this.#directory);
    const draft = join(this.#directory, `draft-${randomBytes(8).toString("hex")}`);
    try {
      const copy = await open(draft, "wx", 0o600);
      const { sha256, bytes } = await fill(copy).finally(() => copy.close());
      if (existsSync(this.#pathOf(sha256))) return { sha256, addedBytes: 0 };
      await rename(draft, this.#pathOf(sha256));
      return { sha256, addedBytes: bytes };
    } finally {
      await rm(draft, { force: true });
    }
  }

  #pathOf(hash: string): string {
    return join(this.#directory, hash);
  }
}

/** The bytes of all files below a directory; 0 where there is none. */
export async function bytesBelow(directory: string): Promise<number> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => []);
  let bytes = 0;
  for (const entry of entries) {
    const path = join(directory, entry.name);
    bytes += entry.isDirectory()
      ? await bytesBelow(path)
      : await lstat(path).then(
          ({ size }) => size,
          () => 0,
        );
  }
  return bytes;
}
