import { existsSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { makeDirectories } from "./make-directories.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "rookery-directories-"));
});
afterEach(() => rmSync(root, { recursive: true }));

test("the missing directories are made and named, outermost first", () => {
  const [a, b] = [join(root, "a"), join(root, "a", "b")];
  expect(makeDirectories(b)).toEqual([a, b]);
  expect(makeDirectories(b)).toEqual([]);
  expect(makeDirectories(join(b, "c"))).toEqual([join(b, "c")]);
  expect(makeDirectories("/")).toEqual([]);
});

test("a link to a directory is one, and a link to nothing, a file in the way or a name too long is an error that leaves nothing", () => {
  symlinkSync(root, join(root, "here"));
  symlinkSync(join(root, "nowhere"), join(root, "dangling"));
  writeFileSync(join(root, "file"), "");
  expect(makeDirectories(join(root, "here"))).toEqual([]);
  expect(() => makeDirectories(join(root, "dangling"))).toThrow("EEXIST");
  expect(() => makeDirectories(join(root, "file"))).toThrow("EEXIST");
  expect(() => makeDirectories(join(root, "file", "below"))).toThrow("ENOTDIR");
  expect(() => makeDirectories(join(root, "new", "a", "x".repeat(300)))).toThrow("ENAMETOOLONG");
  expect(readdirSync(root)).toEqual(["dangling", "file", "here"]);
});

test.skipIf(!existsSync("/proc/self"))(
  "a file system that makes no directories is an error, not an endless search (needs /proc)",
  () => {
    expect(() => makeDirectories("/proc/rookery")).toThrow("ENOENT");
    expect(() => makeDirectories("/proc/rookery/a/b")).toThrow("ENOENT");
  },
);
