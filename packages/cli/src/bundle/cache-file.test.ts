import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { cacheFile, readCache, writeCache } from "./cache-file.ts";

const code = new Map([
  ["start.js", Buffer.from([0, 10, 255])],
  ["more.js", Buffer.from("more")],
]);

function place(): string {
  return cacheFile("build", { XDG_CACHE_HOME: mkdtempSync(join(tmpdir(), "rookery-cache-")) }) as string;
}

test("what is written is read again, and is the user's alone", () => {
  const file = place();
  writeCache(file, code);
  expect(readCache(file)).toEqual(code);
  expect([statSync(file).mode & 0o777, statSync(dirname(file)).mode & 0o777]).toEqual([0o600, 0o700]);
  expect(readdirSync(dirname(file))).toHaveLength(1);
});

test("each build has its file, below the user's caches; NODE_DISABLE_COMPILE_CACHE turns it off", () => {
  expect(cacheFile("one", { XDG_CACHE_HOME: "/caches" })).toMatch(/^\/caches\/rookery\/one-[0-9a-f]+$/);
  expect(cacheFile("one", {})).toMatch(/\/rookery\/one-[0-9a-f]+$/);
  expect(cacheFile("one", { NODE_DISABLE_COMPILE_CACHE: "1" })).toBeUndefined();
});

test.each<[string, (file: string) => void]>([
  ["is not there", () => undefined],
  ["was cut off", (file) => truncateSync(file, statSync(file).size - 1)],
  ["is empty", (file) => truncateSync(file)],
  ["is no cache", (file) => writeFileSync(file, "text")],
  [
    "was changed",
    (file) => writeFileSync(file, Buffer.from(readFileSync(file, "latin1").replace("more", "less"), "latin1")),
  ],
  ["others may write", (file) => chmodSync(file, 0o622)],
])("a file that %s is as good as none", (what, spoil) => {
  const file = place();
  if (what !== "is not there") writeCache(file, code);
  spoil(file);
  expect(readCache(file)).toEqual(new Map());
});

test("where nothing can be written nothing happens", () => {
  const inTheWay = join(mkdtempSync(join(tmpdir(), "rookery-cache-")), "file");
  writeFileSync(inTheWay, "");
  const file = cacheFile("build", { XDG_CACHE_HOME: inTheWay }) as string;
  writeCache(file, code);
  expect(existsSync(file)).toBe(false);
});

test("files that nobody wrote for a month are removed", () => {
  const file = place();
  writeCache(file, code);
  const [old, recent] = ["old", "recent"].map((name) => join(dirname(file), name)) as [string, string];
  for (const [path, days] of [
    [old, 31],
    [recent, 29],
  ] as const) {
    writeFileSync(path, "");
    const then = Date.now() / 1000 - days * 24 * 60 * 60;
    utimesSync(path, then, then);
  }
  writeCache(file, code);
  expect([existsSync(old), existsSync(recent), existsSync(file)]).toEqual([false, true, true]);
});
