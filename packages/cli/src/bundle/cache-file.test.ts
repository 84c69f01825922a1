import { execFileSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { cacheFile, isOutgrown, readCache, writeCache } from "./cache-file.ts";

const cache = {
  ranMs: 250,
  code: new Map([
    ["start.js", { bytes: Buffer.from([0, 10, 255]), changedAtMs: 1.5 }],
    ["more.js", { bytes: Buffer.from("more"), changedAtMs: 2 }],
  ]),
};
const nothing = { ranMs: 0, code: new Map() };

function installed(): { program: string; file: string } {
  const program = join(mkdtempSync(join(tmpdir(), "rookery-installed-")), "rookery.js");
  writeFileSync(program, "");
  return { program, file: cacheFile(program, {}) as string };
}

test("what is written is read again; it lies beside the program and nobody else may change it", () => {
  const { program, file } = installed();
  writeCache(file, program, cache);
  expect(readCache(file, program)).toEqual(cache);
  expect(dirname(dirname(file))).toBe(dirname(program));
  expect([statSync(file).mode & 0o022, statSync(dirname(file)).mode & 0o022]).toEqual([0, 0]);
  expect(readdirSync(dirname(file))).toHaveLength(1);
});

test("NODE_DISABLE_COMPILE_CACHE turns it off", () => {
  expect(cacheFile("/x/rookery.js", { NODE_DISABLE_COMPILE_CACHE: "1" })).toBeUndefined();
});

test.each<[string, (file: string) => void]>([
  ["is not there", (file) => rmSync(file)],
  ["was cut off", (file) => truncateSync(file, statSync(file).size - 1)],
  ["is empty", (file) => truncateSync(file)],
  ["is no cache", (file) => writeFileSync(file, "text")],
  [
    "was changed",
    (file) => writeFileSync(file, Buffer.from(readFileSync(file, "latin1").replace("more", "less"), "latin1")),
  ],
  ["others may write", (file) => chmodSync(file, 0o622)],
  [
    "is a link",
    (file) => {
      renameSync(file, `${file}-other`);
      symlinkSync(`${file}-other`, file);
    },
  ],
  [
    "is a directory",
    (file) => {
      rmSync(file);
      mkdirSync(file);
    },
  ],
  [
    "is a named pipe",
    (file) => {
      rmSync(file);
      execFileSync("mkfifo", [file]);
    },
  ],
])("a file that %s is as good as none", (_, spoil) => {
  const { program, file } = installed();
  writeCache(file, program, cache);
  spoil(file);
  expect(readCache(file, program)).toEqual(nothing);
});

test.runIf(process.getuid?.() === 0)(
  "a file, and a program, of somebody else: nothing is read, nothing is written",
  () => {
    const { program, file } = installed();
    writeCache(file, program, cache);
    chownSync(file, 65534, 65534);
    expect(readCache(file, program)).toEqual(nothing);
    chownSync(program, 65534, 65534);
    expect(readCache(file, program)).toEqual(cache);
    const other = installed();
    chownSync(other.program, 65534, 65534);
    writeCache(other.file, other.program, cache);
    expect(existsSync(other.file)).toBe(false);
  },
);

test("where nothing can be written nothing happens, and nothing is left behind", () => {
  const { program, file } = installed();
  writeFileSync(dirname(file), "in the way");
  writeCache(file, program, cache);
  expect(readFileSync(dirname(file), "utf8")).toBe("in the way");
  const other = installed();
  mkdirSync(other.file, { recursive: true });
  writeCache(other.file, other.program, cache);
  expect(readdirSync(dirname(other.file))).toHaveLength(1);
});

test("files that nobody wrote for a month are removed", () => {
  const { program, file } = installed();
  writeCache(file, program, cache);
  const names = ["0a1b", "0a1b.2c.tmp", "1b2c", "LICENSE"];
  const [old = "", unfinished = "", recent = "", foreign = ""] = names.map((name) => join(dirname(file), name));
  for (const [path, days] of [
    [old, 31],
    [unfinished, 31],
    [recent, 29],
    [foreign, 31],
  ] as const) {
    writeFileSync(path, "");
    const then = Date.now() / 1000 - days * 24 * 60 * 60;
    utimesSync(path, then, then);
  }
  writeCache(file, program, cache);
  expect([old, unfinished, recent, foreign, file].map((path) => existsSync(path))).toEqual([
    false,
    false,
    true,
    true,
    true,
  ]);
});

test.each([
  ["more was compiled", { compiledChars: 100_000, ranMs: 100 }, true],
  ["the run was much longer", { compiledChars: 0, ranMs: 501 }, true],
  ["little is new", { compiledChars: 1000, ranMs: 500 }, false],
])("a cache is written anew where it is worth it: %s", (_, run, isWorthIt) => {
  expect(isOutgrown(cache, run)).toBe(isWorthIt);
});
