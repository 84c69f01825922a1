// Bundles the command line into rookery.js and the chunks it loads when they are used: in packages/cli/dist, or in the
// directory that is given.
import { chmod, cp, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { types } from "node:util";
import { build } from "esbuild";
import { onePassEvents } from "./one-pass-events.mjs";

const cli = join(import.meta.dirname, "..", "packages", "cli");
const require = createRequire(join(cli, "package.json"));
const outdir = process.argv[2] ?? join(cli, "dist");

/**
 * Lets `await import()` of a CommonJS package give its exports by name, as Node does: of a chunk of its own, esbuild
 * exports the default alone.
 */
const commonJsByName = {
  name: "commonjs-by-name",
  setup(build) {
    build.onResolve({ filter: /^[^./]/ }, async ({ path, kind, importer, resolveDir }) => {
      if (kind !== "dynamic-import" || path.startsWith("node:")) return undefined;
      const { path: file, external } = await build.resolve(path, { kind: "import-statement", importer, resolveDir });
      return external || commonJsExports(file) === undefined ? undefined : { path: file, namespace: "commonjs" };
    });
    build.onLoad({ filter: /.*/, namespace: "commonjs" }, ({ path }) => ({
      contents: [
        `const exported = require(${JSON.stringify(path)});`,
        "export default exported;",
        ...commonJsExports(path).map((name) => `export const ${name} = exported.${name};`),
      ].join("\n"),
      resolveDir: dirname(path),
    }));
  },
};

/** Leaves out zod's messages in other languages: nobody reads them, and they are a third of what a first request loads. */
const englishOnly = {
  name: "english-only",
  setup(build) {
    build.onLoad({ filter: /[\\/]zod[\\/]v4[\\/]locales[\\/][\w-]+\.js$/ }, ({ path }) => {
      if (/[\\/](en|index)\.js$/.test(path)) return undefined;
      return { contents: "export default () => ({ localeError: () => undefined });" };
    });
  },
};

/** The names a CommonJS module exports; undefined for any other. */
function commonJsExports(file) {
  if (!/\.c?js$/.test(file)) return undefined;
  try {
    const exported = require(file);
    if (types.isModuleNamespaceObject(exported)) return undefined;
    return Object.keys(exported).filter((name) => /^[A-Za-z_$][\w$]*$/.test(name) && name !== "default");
  } catch (error) {
    if (error.code === "ERR_REQUIRE_ESM") return undefined;
    throw error;
  }
}

/** Where the entry finds the program: its chunks are built apart, as ES modules. */
const startInChunks = {
  name: "start-in-chunks",
  setup(build) {
    build.onResolve({ filter: /^\.\/start\.ts$/ }, () => ({ path: "./chunks/start.mjs", external: true }));
  },
};

const common = {
  bundle: true,
  platform: "node",
  target: "node20",
  // Its binary is found from where it is installed.
  external: ["@lydell/node-pty"],
  conditions: ["rookery-source"],
  minify: true,
  legalComments: "none",
  logLevel: "warning",
};

await rm(outdir, { recursive: true, force: true });
await build({
  ...common,
  entryPoints: { start: join(cli, "src", "start.ts") },
  outdir: join(outdir, "chunks"),
  outExtension: { ".js": ".mjs" },
  chunkNames: "[name]-[hash]",
  splitting: true,
  format: "esm",
  plugins: [commonJsByName, englishOnly, onePassEvents],
  // Dependencies that are CommonJS call require for Node's own modules.
  banner: { js: 'import{createRequire}from"node:module";const require=createRequire(import.meta.url);' },
});
// CommonJS starts ten milliseconds sooner, which is most of what asking for the version takes.
await build({
  ...common,
  entryPoints: { rookery: join(cli, "src", "main.ts") },
  outdir,
  format: "cjs",
  plugins: [startInChunks],
});
// The demo looks for its files beside the chunk it is in.
await cp(join(cli, "src", "demo", "demo-files"), join(outdir, "chunks", "demo-files"), { recursive: true });
await writeFile(join(outdir, "package.json"), '{ "type": "commonjs" }\n');
await chmod(join(outdir, "rookery.js"), 0o755);
