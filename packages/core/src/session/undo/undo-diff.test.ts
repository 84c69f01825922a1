import { chmodSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { FileState } from "./file-state.ts";
import { UndoDiffs } from "./undo-diff.ts";

const ABSENT = { kind: "absent" } as const;

test("a file that goes or comes has nothing on one side of its diff", async () => {
  const dir = workspace();
  writeFileSync(join(dir, "a"), "1\n");
  writeFileSync(join(dir, "empty"), "");
  expect(await diff(dir, "a", ABSENT)).toBe("--- a/a\n+++ /dev/null\n@@ -1 +0,0 @@\n-1");
  expect(await diff(dir, "b", file(0o644), "1\n")).toBe("--- /dev/null\n+++ b/b\n@@ -0,0 +1 @@\n+1");
  expect(await diff(dir, "empty", ABSENT)).toBe("--- a/empty\n+++ /dev/null\n[an empty file]");
});

test("a file outside of the workspace is named as it is", async () => {
  const dir = workspace();
  const other = join(workspace(), "x");
  writeFileSync(other, "1\n");
  expect(await diff(dir, other, file(0o644), "0\n")).toMatch(`--- ${other}\n+++ ${other}\n@@ -1 +1 @@\n`);
});

test("a name or a target with control characters is quoted, so that it makes no line of its own", async () => {
  const dir = workspace();
  const name = 'x\n+++ "b\x1b[2J\x7f';
  writeFileSync(join(dir, name), "1\n");
  const quoted = 'x\\n+++ \\"b\\u001b[2J\\u007f"';
  const header = `--- "a/${quoted}\n+++ "b/${quoted}\n`;
  expect(await diff(dir, name, file(0o644), "0\n")).toBe(`${header}@@ -1 +1 @@\n-1\n+0`);
  expect(await diff(dir, name, { kind: "link", target: "t\n" })).toBe(`${header}[a link: none -> "t\\n"]`);
});

test("modes that differ are shown, beside a change of the content too", async () => {
  const dir = workspace();
  writeFileSync(join(dir, "a"), "1\n");
  chmodSync(join(dir, "a"), 0o755);
  expect(await diff(dir, "a", file(0o640), "1\n")).toBe("--- a/a\n+++ b/a\n[only the mode changes: 755 -> 640]");
  expect(await diff(dir, "a", file(0o640), "0\n")).toBe("[mode 755 -> 640]\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-1\n+0");
  symlinkSync("a", join(dir, "link"));
  expect(await diff(dir, "link", { kind: "link", target: "b" })).toBe("--- a/link\n+++ b/link\n[a link: a -> b]");
});

function file(mode: number): FileState {
  return { kind: "file", content: "sha256:", mode };
}

/** Of a file that is as undo finds it. */
function diff(dir: string, name: string, before: FileState, content?: string): Promise<string | undefined> {
  const change = { path: join(name.startsWith("/") ? "" : dir, name), before, left: [], made: [] };
  const action = before.kind === "absent" ? "deleted" : "restored";
  return new UndoDiffs(dir).of(
    { change, action, isForced: false },
    content === undefined ? undefined : Buffer.from(content),
  );
}

function workspace(): string {
  const dir = mkdtempSync(join(tmpdir(), "rookery-test-"));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  return dir;
}
