import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { Script } from "node:vm";

/** What V8 made of files, by their names. */
export type CompiledFiles = ReadonlyMap<string, Buffer>;

interface LoadedFile {
  readonly script: Script;
  readonly chars: number;
  readonly module: { exports: unknown };
}

/**
 * A program of CommonJS files in one directory, which require each other as `./NAME`. What V8 made of them in an earlier run
 * is taken instead of compiling them; what does not fit this V8 is not.
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

  /** The exports of a file; it runs once. @throws What the file system reports, and what the file throws. */
  load(name: string): unknown {
    const { module } = this.#files.get(name) ?? this.#run(name);
    return module.exports;
  }

  /** How long the files are that were loaded and had to be compiled, in characters. */
  get compiledChars(): number {
    const compiled = [...this.#files].filter(
      ([name, { script }]) => !this.#known.has(name) || script.cachedDataRejected,
    );
    return compiled.reduce((sum, [, { chars }]) => sum + chars, 0);
  }

  /** All that is known now: of files that were loaded, the functions that ran too. */
  get code(): CompiledFiles {
    const loaded = [...this.#files].map(([name, { script }]): [string, Buffer] => [name, script.createCachedData()]);
    return new Map([...this.#known, ...loaded]);
  }

  #run(name: string): LoadedFile {
    const filename = join(this.#directory, name);
    const cachedData = this.#known.get(name);
    const source = `(function (exports, require, module, __filename, __dirname) {${readFileSync(filename, "utf8")}\n})`;
    const script = new Script(source, { filename, ...(cachedData && { cachedData }) });
    const module = { exports: {} };
    const file = { script, chars: source.length, module };
    // Known before it runs: files may require one another in a circle.
    this.#files.set(name, file);
    const require = (id: string): unknown => (id.startsWith("./") ? this.load(id.slice(2)) : this.#require(id));
    script.runInThisContext().call(module.exports, module.exports, require, module, filename, dirname(filename));
    return file;
  }
}
