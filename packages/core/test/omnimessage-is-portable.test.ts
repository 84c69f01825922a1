import { join } from "node:path";
import { runInNewContext } from "node:vm";
import { build } from "esbuild";
import { expect, test } from "vitest";
import { type Import, sourceImports, src } from "./support/imports.ts";

test("nothing that omnimessage/index.ts reaches imports Node or a package", () => {
  const reached = reachable("omnimessage/index.ts", sourceImports());
  expect(reached.length).toBeGreaterThan(5);
  expect(reached.filter((target) => !target.endsWith(".ts"))).toEqual([]);
});

test("omnimessage bundles for a browser and runs there", async () => {
  const { outputFiles } = await build({
    entryPoints: [join(src, "omnimessage/index.ts")],
    bundle: true,
    write: false,
    platform: "browser",
    format: "iife",
    globalName: "omnimessage",
    logLevel: "silent",
  });
  // A context of its own has the language and what is given to it, and nothing of Node.
  const context = { TextDecoder, chunks: [new TextEncoder().encode('{"type":1}\n')] };
  const script = `${outputFiles[0]?.text}
    (async () => {
      const message = omnimessage.userText("hi");
      const lines = [];
      const source = { async *[Symbol.asyncIterator]() { yield* chunks; } };
      for await (const line of omnimessage.readMessages(source)) lines.push(line);
      const schema = Object.keys(omnimessage.omniMessageJsonSchema());
      return JSON.stringify([omnimessage.aggregateAll([message]).length, omnimessage.isOmniMessage(message), lines, schema]);
    })();`;
  expect(JSON.parse(await runInNewContext(script, context))).toEqual([
    1,
    true,
    [{ line: 1, problem: expect.stringMatching(/^is not a message: timestamp is missing/), torn: false }],
    ["$schema", "title", "description", "oneOf", "$defs"],
  ]);
});

function reachable(entry: string, imports: readonly Import[]): string[] {
  const reached = new Set([entry]);
  for (const file of reached) {
    for (const { target } of imports.filter((one) => one.file === file)) reached.add(target);
  }
  return [...reached];
}
