import { join } from "node:path";
import { type Cache, cacheFile, isOutgrown, readCache, writeCache } from "./cache-file.ts";
import { CachedProgram } from "./cached-program.ts";

/** The bundle itself. */
declare const __filename: string;
declare const __dirname: string;

const file = cacheFile(__filename);
const cache: Cache = file ? readCache(file, __filename) : { code: new Map(), ranMs: 0 };
const program = new CachedProgram(join(__dirname, "chunks"), cache.code);
process.on("exit", () => {
  const ranMs = Math.round(process.uptime() * 1000);
  if (file && isOutgrown(cache, { compiledChars: program.compiledChars, ranMs }))
    writeCache(file, __filename, { code: program.code, ranMs: Math.max(ranMs, cache.ranMs) });
});

const loaded = program.load("start.js") as typeof import("../start.ts");

/** In the bundle, stands for `../start.ts`: the same, out of the program's chunks. */
export const start: () => Promise<never> = loaded.start;
