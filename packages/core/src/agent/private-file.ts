import { randomBytes } from "node:crypto";
import { type FileHandle, open, realpath, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { errorCode, errorText } from "../errors/error-text.ts";
import { RookeryError } from "../errors/rookery-error.ts";
import { ensurePrivateDirectory } from "../trace/private-files.ts";

/**
 * Replaces a file whole, readable by its owner alone (0600, whatever the umask), together with missing directories (0700).
 *
 * The text is flushed under another name first, so that a crash leaves the old file or the new one. A symbolic link is
 * written through.
 *
 * @throws {RookeryError} `root-unwritable` when the file cannot be written.
 */
export async function writePrivateFile(file: string, text: string): Promise<void> {
  try {
    ensurePrivateDirectory(dirname(file));
    const target = await realpath(file).catch(() => file);
    const temporary = `${target}.${randomBytes(4).toString("hex")}.tmp`;
    try {
      await writeFlushed(await open(temporary, "wx", 0o600), text);
      await rename(temporary, target);
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
  } catch (error) {
    throw new RookeryError("root-unwritable", `cannot write ${file}: ${errorCode(error) ?? errorText(error)}`, {
      hint: "make the directory writable, or name another one with --root or ROOKERY_HOME",
      cause: error,
    });
  }
}

async function writeFlushed(handle: FileHandle, text: string): Promise<void> {
  try {
    await handle.chmod(0o600);
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
}
