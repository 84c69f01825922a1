import { readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { Script } from "node:vm";

/** What V8 made of a file, and when that file was last changed. */
export interface CompiledFile {
  readonly bytes: Buffer;
  readonly changedAtMs: number;
}

/** By the names of the files. */
export type CompiledFiles = ReadonlyMap<string, CompiledFile>;

interface LoadedFile {
  readonly script: Script;
  readonly isKnown: boolean;
  readonly chars: number;
  readonly changedAtMs: number;
  readonly module: { exports: unknown };
}

/**
 * A program of CommonJS files in one directory, which require each other as `./NAME`. What V8 made of them in an earlier run
 * is taken instead of compiling them; what does not fit this V8, or a file that was changed since, is not.
 */
export class CachedProgram {
  readonly #directory: string;
  readonly #known: CompiledFiles;
  readonly #files = new Map<string, LoadedFile>();
  readonly #require: NodeRequire;

  constructor(directory: string, known: CompiledFiles) {
    this.#directory = directory;
    this.#known = known;
    this.#require = createRequire(join(directory, "any.js"));
  }

  /** The exports of a file; it runs once. @throws What the file throws, and an error that names a file that is not whole. */
  load(name: string): unknown {
    const { module } = this.#files.get(name) ?? this.#run(name);
    return module.exports;
  }

  /** How long the files are that were loaded and had to be compiled, in characters. */
  get compiledChars(): number {
    return [...this.#files.values()].reduce((sum, { isKnown, chars }) => sum + (isKnown ? 0 : chars), 0);
  }

  /** All that is known now: of files that were loaded, the functions that ran too. */
  get code(): CompiledFiles {
    const code = new Map(this.#known);
    for (const [name, { script, changedAtMs }] of this.#files) {
      code.set(name, { bytes: script.createCachedData(), changedAtMs });
    }
    return code;
  }

  #run(name: string): LoadedFile {
    const filename = join(this.#directory, name);
    const { text, changedAtMs } = whole(filename, () => ({
      text: readFileSync(filename, "utf8"),
      changedAtMs: statSync(filename).mtimeMs,
    }));
    const known = this.#known.get(name);
    const cachedData = known?.changedAtMs === changedAtMs ? known.bytes : undefined;
    const source = `(function (exports, require, module, __filename, __dirname) {${text}\n})`;
    const script = whole(filename, () => new Script(source, { filename, ...(cachedData && { cachedData }) }));
    const module = { exports: {} };
    const isKnown = cachedData !== undefined && script.cachedDataRejected !== true;
    const file = { script, isKnown, chars: source.length, changedAtMs, module };
    // Known before it runs: files may require one another in a circle.
    this.#files.set(name, file);
    const require = (id: string): unknown => (id.startsWith("./") ? this.load(id.slice(2)) : this.#require(id));
    try {
      script.runInThisContext().call(module.exports, module.exports, require, module, filename, dirname(filename));
    } catch (error) {
      this.#files.delete(name);
      throw error;
    }
    return file;
  }
}

function whole<T>(filename: string, get: () => T): T {
  try {
    return get();
  } catch (cause) {
    throw new Error(`the program is not whole: ${filename} cannot be read; install it again`, { cause });
  }
}
