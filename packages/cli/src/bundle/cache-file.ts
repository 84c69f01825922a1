import { createHash, randomBytes } from "node:crypto";
import {
  closeSync,
  constants,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { cachedDataVersionTag } from "node:v8";
import type { CompiledFile, CompiledFiles } from "./cached-program.ts";

/**
 * Where what V8 makes of a program is kept: beside the program itself, so that whoever can change the one could change the
 * other, and nobody else; apart for each V8 and what it was told. Absent when `NODE_DISABLE_COMPILE_CACHE` is set, as for Node's
 * own cache.
 */
export function cacheFile(program: string, env: NodeJS.ProcessEnv = process.env): string | undefined {
  if (env.NODE_DISABLE_COMPILE_CACHE) return undefined;
  return join(dirname(program), "cache", cachedDataVersionTag().toString(16));
}

/** What V8 made of a program, and for how long that ran. */
export interface Cache {
  readonly code: CompiledFiles;
  readonly ranMs: number;
}

const NOTHING: Cache = { code: new Map(), ranMs: 0 };

/** Nothing where there is none that is whole, belongs to the owner of the program, and nobody else can change. */
export function readCache(file: string, program: string): Cache {
  try {
    const descriptor = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const stats = fstatSync(descriptor);
      const isTrusted = stats.isFile() && stats.uid === statSync(program).uid && (stats.mode & 0o022) === 0;
      return isTrusted ? unpack(readFileSync(descriptor)) : NOTHING;
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return NOTHING;
  }
}

/** Whether a run leaves so much more than is kept that it is worth the time to write. */
export function isOutgrown(
  { ranMs: keptMs }: Cache,
  run: { readonly compiledChars: number; readonly ranMs: number },
): boolean {
  return run.compiledChars > FEW_CHARS || run.ranMs > LONGER * keptMs;
}

/** So many are compiled sooner than what came of it is written. */
const FEW_CHARS = 64 * 1024;
/** What ran so much longer knows more functions. */
const LONGER = 2;

/** For the owner of the program alone. Does nothing where it cannot be written: the next start is slower, that is all. */
export function writeCache(file: string, program: string, cache: Cache): void {
  const unfinished = `${file}.${randomBytes(4).toString("hex")}.tmp`;
  try {
    if (statSync(program).uid !== process.getuid?.()) return;
    makeDirectory(dirname(file));
    removeOld(dirname(file));
    writeFileSync(unfinished, pack(cache), { mode: 0o644, flag: "wx" });
    renameSync(unfinished, file);
  } catch {
    removeQuietly(unfinished);
  }
}

function makeDirectory(directory: string): void {
  if (!statSync(directory, { throwIfNoEntry: false })) mkdirSync(directory, { mode: 0o755 });
}

function removeQuietly(file: string): void {
  try {
    rmSync(file, { force: true });
  } catch {
    // What is in the way is in the way of the cache alone.
  }
}

const OURS = /^[0-9a-f]+(\.[0-9a-f]+\.tmp)?$/;
const KEPT_MS = 30 * 24 * 60 * 60 * 1000;

/** Those that nobody wrote for a month: of Nodes that are gone, most of them, and what was left unfinished. */
function removeOld(directory: string): void {
  for (const name of readdirSync(directory)) {
    const file = join(directory, name);
    if (!OURS.test(name)) continue;
    if (Date.now() - statSync(file).mtimeMs > KEPT_MS) removeQuietly(file);
  }
}

/** A line with the hash of what follows: a line of JSON that tells the files, then their bytes. */
function pack({ code, ranMs }: Cache): Buffer {
  const files = [...code].map(([name, { bytes, changedAtMs }]) => ({ name, changedAtMs, length: bytes.length }));
  const bytes = [...code.values()].map((file) => file.bytes);
  const content = Buffer.concat([Buffer.from(`${JSON.stringify({ ranMs, files })}\n`), ...bytes]);
  return Buffer.concat([Buffer.from(`${hashOf(content)}\n`), content]);
}

function unpack(packed: Buffer): Cache {
  const content = packed.subarray(packed.indexOf("\n") + 1);
  if (packed.toString("latin1", 0, packed.length - content.length) !== `${hashOf(content)}\n`) return NOTHING;
  let from = content.indexOf("\n") + 1;
  const { ranMs, files } = JSON.parse(content.toString("utf8", 0, from));
  const code = new Map<string, CompiledFile>();
  for (const { name, changedAtMs, length } of files) {
    code.set(name, { bytes: content.subarray(from, from + length), changedAtMs });
    from += length;
  }
  return { code, ranMs };
}

function hashOf(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("hex");
}
