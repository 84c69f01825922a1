import { randomBytes } from "node:crypto";
import { constants, type Stats } from "node:fs";
import { type FileHandle, link, open, readFile, rename, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { errorCode } from "../../errors/error-text.ts";

/** Why a file could not be put in place whole and was written where it lies. */
type InPlaceReason = "hard links" | "mount point" | "unwritable directory" | "no hard links";

/** How a file was written; `inPlace` is absent for the usual way, the replacement in one step. */
export interface WriteReport {
  readonly inPlace?: InPlaceReason;
}

/**
 * Gives a file new content so that nobody ever sees half of it, and keeps its mode, and its owner where we may.
 *
 * A flushed temporary file in the same directory takes the place of the old one. Where that would break a hard link, or
 * the system does not let us, the content is written in place while the flushed copy lies ready, and the old content is
 * written back if that fails. New files get the mode of the umask. On failure the old content stands and no temporary
 * file is left.
 *
 * @param realPath - With links resolved; its directory exists.
 * @param mode - The permission bits it gets instead; a content never appears with wider ones.
 * @throws The system's own error; `EACCES` too for a file without write permission.
 */
export async function writeFileAtomically(realPath: string, bytes: Uint8Array, mode?: number): Promise<WriteReport> {
  const original = await statIfPresent(realPath);
  if (original === undefined) {
    await withFlushedCopy(dirname(realPath), bytes, mode === undefined ? 0o666 : 0o600, async (copy, handle) => {
      if (mode !== undefined) await handle.chmod(mode);
      await rename(copy, realPath);
    });
    return {};
  }
  await assertWritable(realPath);
  try {
    return await withFlushedCopy(dirname(realPath), bytes, 0o600, (copy, handle) =>
      replace(realPath, original, bytes, copy, handle, mode),
    );
  } catch (error) {
    const reason = reasonToStayInPlace(error);
    if (reason === undefined) throw error;
    return await withFlushedCopy(tmpdir(), bytes, 0o600, () => writeInPlace(realPath, bytes, reason, mode));
  }
}

/**
 * Creates a file that must not be there, whole and flushed, with the mode of the umask. Whoever makes one of that name in
 * the same moment keeps theirs. Where hard links are not to be had the file is filled where it lies, and taken away again
 * if that fails.
 *
 * @param realPath - As for `writeFileAtomically`.
 * @param linkFile - Default: the system's.
 * @throws `EEXIST` where something is; otherwise the system's own error.
 */
export async function createFileAtomically(
  realPath: string,
  bytes: Uint8Array,
  linkFile: typeof link = link,
): Promise<WriteReport> {
  try {
    await withFlushedCopy(dirname(realPath), bytes, 0o666, (copy) => linkFile(copy, realPath));
    return {};
  } catch (error) {
    if (!["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"].includes(errorCode(error) ?? "")) throw error;
    return await createInPlace(realPath, bytes);
  }
}

async function createInPlace(realPath: string, bytes: Uint8Array): Promise<WriteReport> {
  const handle = await open(realPath, "wx");
  try {
    await writeOver(handle, bytes);
  } catch (error) {
    await rm(realPath, { force: true });
    throw error;
  } finally {
    await handle.close();
  }
  return { inPlace: "no hard links" };
}

/** By opening it, since `access` asks for the user who started the program. A program that runs can be replaced, not opened. */
async function assertWritable(realPath: string): Promise<void> {
  try {
    await (await open(realPath, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY)).close();
  } catch (error) {
    if (errorCode(error) !== "ETXTBSY") throw error;
  }
}

async function replace(
  realPath: string,
  original: Stats,
  bytes: Uint8Array,
  copy: string,
  handle: FileHandle,
  mode?: number,
): Promise<WriteReport> {
  if (original.nlink > 1) return await writeInPlace(realPath, bytes, "hard links", mode);
  await keepOwnerAndMode(handle, { ...original, mode: mode ?? original.mode });
  await rename(copy, realPath);
  return {};
}

/** Whether this is how the copies are named that lie beside a file while it is written, and stay when the harness is killed. */
export function isFlushedCopy(name: string): boolean {
  return /^\.rookery-[0-9a-f]{16}\.tmp$/.test(name);
}

async function withFlushedCopy<T>(
  directory: string,
  bytes: Uint8Array,
  mode: number,
  use: (copy: string, handle: FileHandle) => Promise<T>,
): Promise<T> {
  const copy = join(directory, `.rookery-${randomBytes(8).toString("hex")}.tmp`);
  const handle = await open(copy, "wx", mode);
  try {
    await writeOver(handle, bytes);
    return await use(copy, handle);
  } finally {
    await handle.close();
    await rm(copy, { force: true });
  }
}

/** A change of owner clears the set-id bits, so the mode comes last, and without them if the owner is not kept. */
async function keepOwnerAndMode(handle: FileHandle, original: Pick<Stats, "uid" | "gid" | "mode">): Promise<void> {
  const kept = await mayFail(handle.chown(original.uid, original.gid));
  if (!kept) await mayFail(handle.chown(-1, original.gid));
  await handle.chmod(original.mode & (kept ? 0o7777 : 0o777));
}

async function writeInPlace(
  realPath: string,
  bytes: Uint8Array,
  inPlace: InPlaceReason,
  mode?: number,
): Promise<WriteReport> {
  const old = await readFile(realPath);
  const handle = await open(realPath, constants.O_RDWR | constants.O_NOFOLLOW);
  try {
    await writeOver(handle, bytes);
    if (mode !== undefined) await mayFail(handle.chmod(mode & 0o7777));
  } catch (error) {
    await mayFail(writeOver(handle, old));
    throw error;
  } finally {
    await handle.close();
  }
  return { inPlace };
}

/** Shortens last: until then the old content's room on the disk stays taken, and the old content fits back in. */
async function writeOver(handle: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length; ) {
    at += (await handle.write(bytes, at, bytes.length - at, at)).bytesWritten;
  }
  await handle.truncate(bytes.length);
  await handle.sync();
}

function reasonToStayInPlace(error: unknown): InPlaceReason | undefined {
  const code = errorCode(error) ?? "";
  if (["EBUSY", "EXDEV"].includes(code)) return "mount point";
  return ["EACCES", "EPERM", "EROFS"].includes(code) ? "unwritable directory" : undefined;
}

async function statIfPresent(path: string): Promise<Stats | undefined> {
  try {
    return await stat(path);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

async function mayFail(work: Promise<void>): Promise<boolean> {
  return await work.then(
    () => true,
    () => false,
  );
}
