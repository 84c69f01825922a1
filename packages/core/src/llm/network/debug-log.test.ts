import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openDebugLog } from "./debug-log.ts";

const newDirectory = (): string => mkdtempSync(join(tmpdir(), "rookery-debug-"));
const unexpected = (message: string): void => {
  throw new Error(message);
};

test("a new log is its owner's alone, whatever the umask, and holds a line for each record with its time", () => {
  const file = join(newDirectory(), "debug.jsonl");
  const umask = process.umask(0);
  const log = openDebugLog(file, unexpected);
  process.umask(umask);
  log.write({ event: "a" });
  log.write({ event: "b", text: "line\nline" });
  log.close();
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const records = readFileSync(file, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  expect(records).toEqual([
    { time, event: "a" },
    { time, event: "b", text: "line\nline" },
  ]);
});

test("a log that is held takes lines after it was closed, until the last holder lets go", () => {
  const file = join(newDirectory(), "debug.jsonl");
  const log = openDebugLog(file, unexpected);
  const [release, releaseOther] = [log.hold(), log.hold()];
  log.close();
  release();
  release();
  log.write({ event: "held" });
  releaseOther();
  log.write({ event: "late" });
  log.close();
  expect(readFileSync(file, "utf8")).toMatch(/^\{[^\n]*"event":"held"\}\n$/);
});

test("a file of one's own is appended to, and closed to others", () => {
  const file = join(newDirectory(), "debug.jsonl");
  writeFileSync(file, "old\n");
  chmodSync(file, 0o644);
  const log = openDebugLog(file, unexpected);
  log.write({ event: "a" });
  log.close();
  expect(readFileSync(file, "utf8")).toMatch(/^old\n\{"time":/);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test("a symbolic link is refused, and what it points to stays as it is", () => {
  const directory = newDirectory();
  writeFileSync(join(directory, "target"), "kept");
  symlinkSync(join(directory, "target"), join(directory, "link"));
  symlinkSync(join(directory, "missing"), join(directory, "dangling"));
  for (const name of ["link", "dangling"]) refused(join(directory, name), "it is a symbolic link");
  expect(readFileSync(join(directory, "target"), "utf8")).toBe("kept");
  expect(existsSync(join(directory, "missing"))).toBe(false);
});

test("what is no regular file is refused", () => {
  const directory = newDirectory();
  mkdirSync(join(directory, "sub"));
  refused(join(directory, "sub"), "EISDIR");
  refused("/dev/null", "it is not a regular file");
});

test("a directory that is not there is named in the error", () => {
  refused(join(newDirectory(), "missing", "debug.jsonl"), "ENOENT");
});

test.runIf(process.getuid?.() === 0)("a file of another user is refused and keeps its mode", () => {
  const file = join(newDirectory(), "theirs");
  writeFileSync(file, "", { mode: 0o644 });
  chownSync(file, 65_534, 65_534);
  refused(file, "it belongs to another user");
  expect(statSync(file).mode & 0o777).toBe(0o644);
});

test("what cannot be written is told once, and nothing throws", () => {
  const file = join(newDirectory(), "debug.jsonl");
  const told: string[] = [];
  const log = openDebugLog(file, (message) => told.push(message));
  const circular: Record<string, unknown> = {};
  circular.self = circular;
  log.write(circular);
  log.write({ event: "b" });
  log.close();
  expect(told).toEqual([expect.stringContaining(`the debug log ${file} cannot be written any more: `)]);
  expect(readFileSync(file, "utf8")).toBe("");
});

function refused(file: string, found: string): void {
  expect(() => openDebugLog(file, unexpected)).toThrow(
    expect.objectContaining({
      code: "config-invalid",
      message: `cannot write a debug log to ${file}: ${found}`,
      hint: "name a new file, or one of your own",
    }),
  );
}
