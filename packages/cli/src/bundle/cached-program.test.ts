import { mkdtempSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { CachedProgram, type CompiledFiles } from "./cached-program.ts";

const none: CompiledFiles = new Map();

test("files require each other and Node's modules, and each runs once", () => {
  const directory = program({
    "start.js":
      'exports.all = [require("./a.js"), require("./a.js"), require("node:path").sep, __dirname, __filename];',
    "a.js": "module.exports = { runs: (globalThis.runsOfA = (globalThis.runsOfA ?? 0) + 1) };",
  });
  const { all } = new CachedProgram(directory, none).load("start.js") as { all: unknown[] };
  expect(all).toEqual([{ runs: 1 }, { runs: 1 }, "/", directory, join(directory, "start.js")]);
  expect(all[0]).toBe(all[1]);
});

test("files that require one another in a circle see what is exported so far", () => {
  const directory = program({
    "start.js": 'exports.first = 1; exports.seen = require("./a.js").seen;',
    "a.js": 'exports.seen = require("./start.js").first;',
  });
  expect(new CachedProgram(directory, none).load("start.js")).toEqual({ first: 1, seen: 1 });
});

test("what is known is not compiled; what is known of other files stays known", () => {
  const directory = program({ "start.js": "exports.twice = (n) => 2 * n;", "more.js": "exports.more = true;" });
  const first = new CachedProgram(directory, none);
  first.load("start.js");
  first.load("more.js");
  expect(first.compiledChars).toBeGreaterThan(0);

  const second = new CachedProgram(directory, first.code);
  expect((second.load("start.js") as { twice(n: number): number }).twice(21)).toBe(42);
  expect(second.compiledChars).toBe(0);
  expect([...second.code.keys()]).toEqual(["start.js", "more.js"]);
});

test.each([
  ["nothing", Buffer.alloc(0)],
  ["garbage", Buffer.from("this is no code of V8's")],
])("what is known of a file but %s is not used", (_, known) => {
  const directory = program({ "start.js": "exports.answer = 42;" });
  const { mtimeMs } = statSync(join(directory, "start.js"));
  const loaded = new CachedProgram(directory, new Map([["start.js", { bytes: known, changedAtMs: mtimeMs }]]));
  expect(loaded.load("start.js")).toEqual({ answer: 42 });
  expect(loaded.compiledChars).toBeGreaterThan(0);
});

test("a file that was changed is compiled, even where it is as long as before", () => {
  const directory = program({ "start.js": "exports.answer = 41;" });
  const first = new CachedProgram(directory, none);
  first.load("start.js");
  writeFileSync(join(directory, "start.js"), "exports.answer = 42;");
  utimesSync(join(directory, "start.js"), 1, 1);
  const second = new CachedProgram(directory, first.code);
  expect(second.load("start.js")).toEqual({ answer: 42 });
  expect(second.compiledChars).toBeGreaterThan(0);
});

test("a file that is missing, or throws, says so", () => {
  const directory = program({ "start.js": 'throw new Error("no start");' });
  const loaded = new CachedProgram(directory, none);
  const missing = `the program is not whole: ${join(directory, "gone.js")} cannot be read; install it again`;
  expect(() => loaded.load("gone.js")).toThrow(missing);
  expect(() => loaded.load("start.js")).toThrow("no start");
  expect(() => loaded.load("start.js")).toThrow("no start");
});

function program(files: Readonly<Record<string, string>>): string {
  const directory = mkdtempSync(join(tmpdir(), "rookery-program-"));
  for (const [name, source] of Object.entries(files)) writeFileSync(join(directory, name), source);
  return directory;
}
