// Bundles the command line into rookery.js and the chunks it loads when they are used: in packages/cli/dist, or in the
// directory that is given.
import { chmod, cp, mkdir, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { types } from "node:util";
import { build, transform } from "esbuild";
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

/** The entry finds the program in its chunks, which are built apart. */
const startInChunks = {
  name: "start-in-chunks",
  setup(build) {
    const bundledStart = join(cli, "src", "bundle", "start.ts");
    build.onResolve({ filter: /^\.\/start\.ts$/ }, () => ({ path: bundledStart }));
  },
};

/** Node loads CommonJS sooner and in less memory, and lets its code be kept; esbuild cuts programs into ES modules alone. */
const commonJs = {
  platform: "node",
  target: "node20",
  format: "cjs",
  supported: { "dynamic-import": false },
  minify: true,
  legalComments: "none",
};

const bundled = {
  ...commonJs,
  bundle: true,
  // Its binary is found from where it is installed.
  external: ["@lydell/node-pty"],
  conditions: ["rookery-source"],
  logLevel: "warning",
};

const chunks = join(outdir, "chunks");
await rm(outdir, { recursive: true, force: true });
await mkdir(chunks, { recursive: true });
const { outputFiles } = await build({
  ...bundled,
  format: "esm",
  supported: {},
  splitting: true,
  entryPoints: { start: join(cli, "src", "start.ts") },
  outdir: chunks,
  chunkNames: "[name]-[hash]",
  write: false,
  plugins: [commonJsByName, englishOnly, onePassEvents],
});
for (const { path, text } of outputFiles) {
  const knowsItself = text.includes("import.meta.url");
  const { code } = await transform(text, {
    ...commonJs,
    ...(knowsItself && { define: { "import.meta.url": "ownAddress" } }),
  });
  const ownAddress = knowsItself ? 'const ownAddress=require("node:url").pathToFileURL(__filename).href;' : "";
  // As the ES modules they were.
  await writeFile(path, `"use strict";${ownAddress}${code}`);
}
await build({
  ...bundled,
  entryPoints: { rookery: join(cli, "src", "main.ts") },
  outdir,
  plugins: [startInChunks],
});
// The demo looks for its files beside the chunk it is in.
await cp(join(cli, "src", "demo", "demo-files"), join(chunks, "demo-files"), { recursive: true });
await writeFile(join(outdir, "package.json"), '{ "type": "commonjs" }\n');
await chmod(join(outdir, "rookery.js"), 0o755);
