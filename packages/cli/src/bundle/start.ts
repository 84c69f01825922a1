import { join } from "node:path";
import { type Cache, cacheFile, readCache, writeCache } from "./cache-file.ts";
import { CachedProgram } from "./cached-program.ts";

/** The bundle itself. */
declare const __filename: string;
declare const __dirname: string;

/** So many are compiled sooner than what came of it is written. */
const FEW_CHARS = 64 * 1024;
/** What ran so much longer knows more functions. */
const LONGER = 2;

const file = cacheFile(__filename);
const cache: Cache = file ? readCache(file, __filename) : { code: new Map(), ranMs: 0 };
const program = new CachedProgram(join(__dirname, "chunks"), cache.code);
process.on("exit", () => {
  const ranMs = Math.round(process.uptime() * 1000);
  const isNew = program.compiledChars > FEW_CHARS || ranMs > LONGER * cache.ranMs;
  if (file && isNew) writeCache(file, __filename, { code: program.code, ranMs: Math.max(ranMs, cache.ranMs) });
});

const loaded = program.load("start.js") as typeof import("../start.ts");

/** In the bundle, stands for `../start.ts`: the same, out of the program's chunks. */
export const start: () => Promise<never> = loaded.start;
