import { createHash } from "node:crypto";
import {
  closeSync,
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
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { cachedDataVersionTag } from "node:v8";
import type { CompiledFiles } from "./cached-program.ts";

/**
 * Where what V8 makes of one build of the program is kept: in the user's own cache directory, apart for each V8 and what it
 * was told. Absent when `NODE_DISABLE_COMPILE_CACHE` is set, as for Node's own cache, and where there is no home.
 */
export function cacheFile(buildId: string, env: NodeJS.ProcessEnv = process.env): string | undefined {
  if (env.NODE_DISABLE_COMPILE_CACHE) return undefined;
  try {
    const caches = process.platform === "darwin" ? join(homedir(), "Library", "Caches") : join(homedir(), ".cache");
    return join(env.XDG_CACHE_HOME || caches, "rookery", `${buildId}-${cachedDataVersionTag().toString(16)}`);
  } catch {
    return undefined;
  }
}

/** Empty where nothing is there that this user wrote, whole, and nobody else can change. */
export function readCache(file: string): CompiledFiles {
  try {
    const descriptor = openSync(file, "r");
    try {
      const { uid, mode } = fstatSync(descriptor);
      if (uid !== process.getuid?.() || (mode & 0o022) !== 0) return new Map();
      return unpack(readFileSync(descriptor));
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return new Map();
  }
}

/** Does nothing where it cannot be written: the next run is slower, that is all. */
export function writeCache(file: string, code: CompiledFiles): void {
  const unfinished = `${file}.${process.pid}.tmp`;
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(unfinished, pack(code), { mode: 0o600, flag: "wx" });
    renameSync(unfinished, file);
    removeOld(dirname(file));
  } catch {
    removeQuietly(unfinished);
  }
}

function removeQuietly(file: string): void {
  try {
    rmSync(file, { force: true });
  } catch {
    // What is in the way is in the way of the cache alone.
  }
}

const KEPT_MS = 30 * 24 * 60 * 60 * 1000;

/** Those of builds and of Nodes that nobody uses any more. */
function removeOld(directory: string): void {
  for (const name of readdirSync(directory)) {
    const file = join(directory, name);
    if (Date.now() - statSync(file).mtimeMs > KEPT_MS) rmSync(file, { force: true });
  }
}

/** A line with the hash of what follows: a line of JSON with the files' names and lengths, then their bytes. */
function pack(code: CompiledFiles): Buffer {
  const files = [...code].map(([name, { length }]) => ({ name, length }));
  const content = Buffer.concat([Buffer.from(`${JSON.stringify(files)}\n`), ...code.values()]);
  return Buffer.concat([Buffer.from(`${hashOf(content)}\n`), content]);
}

function unpack(packed: Buffer): CompiledFiles {
  const content = packed.subarray(packed.indexOf("\n") + 1);
  if (packed.toString("latin1", 0, packed.length - content.length) !== `${hashOf(content)}\n`) return new Map();
  let from = content.indexOf("\n") + 1;
  const code = new Map<string, Buffer>();
  for (const { name, length } of JSON.parse(content.toString("utf8", 0, from))) {
    code.set(name, content.subarray(from, from + length));
    from += length;
  }
  return code;
}

function hashOf(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("hex");
}
