import { join } from "node:path";
import { cacheFile, readCache, writeCache } from "./cache-file.ts";
import { CachedProgram } from "./cached-program.ts";

/** The bundle itself. */
declare const __filename: string;
declare const __dirname: string;

/** So many are compiled sooner than what came of it is written. */
const FEW_CHARS = 64 * 1024;

const file = cacheFile(__filename);
const program = new CachedProgram(join(__dirname, "chunks"), file ? readCache(file, __filename) : new Map());
process.on("exit", () => {
  if (file && program.compiledChars > FEW_CHARS) writeCache(file, __filename, program.code);
});

const loaded = program.load("start.js") as typeof import("../start.ts");

/** In the bundle, stands for `../start.ts`: the same, out of the program's chunks. */
export const start: () => Promise<never> = loaded.start;
