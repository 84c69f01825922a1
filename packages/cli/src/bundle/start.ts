import { join } from "node:path";
import { cacheFile, readCache, writeCache } from "./cache-file.ts";
import { CachedProgram } from "./cached-program.ts";

/** The hash of the program's files, put here when it is bundled. */
declare const BUILD_ID: string;
/** Of the bundle. */
declare const __dirname: string;

/** In the bundle, stands for `../start.ts`: the same, out of the program's chunks. */
export async function start(): Promise<never> {
  const file = cacheFile(BUILD_ID);
  const program = new CachedProgram(join(__dirname, "chunks"), file === undefined ? new Map() : readCache(file));
  process.on("exit", () => {
    if (file !== undefined && program.compiledChars > FEW_CHARS) writeCache(file, program.code);
  });
  const loaded = program.load("start.js") as typeof import("../start.ts");
  return await loaded.start();
}

/** So many are compiled sooner than what came of it is written. */
const FEW_CHARS = 64 * 1024;
