import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";

export const src: string = resolve(import.meta.dirname, "../../src");

/** One import of one source file, both relative to `src`; a package keeps its name. */
export interface Import {
  readonly file: string;
  readonly target: string;
}

/** Every import of the source files, tests left out. */
export function sourceImports(): Import[] {
  const files = readdirSync(src, { recursive: true, encoding: "utf8" }).map(withSlashes);
  return files
    .filter((file) => /(?<!\.test)\.ts$/.test(file))
    .flatMap((file) => importsIn(readFileSync(join(src, file), "utf8")).map((name) => resolved(file, name)));
}

/** The names in the imports, re-exports and dynamic imports of a source text; what comments show is no import. */
export function importsIn(text: string): string[] {
  const code = text.replace(/^\s*(\/\/|\/?\*).*$/gm, "");
  return [...code.matchAll(/\b(?:from|import)\s*(?:\(\s*)?"([^"]+)"/g)].flatMap(([, name]) => name ?? []);
}

/** The first part of a path below `src`; "." for a file that stands there itself. */
export function folderOf(file: string): string {
  return file.includes("/") ? file.slice(0, file.indexOf("/")) : ".";
}

function resolved(file: string, name: string): Import {
  if (!name.startsWith(".")) return { file, target: name };
  return { file, target: withSlashes(relative(src, resolve(src, dirname(file), name))) };
}

function withSlashes(path: string): string {
  return path.replaceAll(sep, "/");
}
