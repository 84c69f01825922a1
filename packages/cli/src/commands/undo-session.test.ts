import { RookeryError, type UndoResult } from "@rookery/core";
import { expect, test } from "vitest";
import { fakeAgent } from "../../test/support/fake-agent.ts";
import { fakeIo, written } from "../../test/support/fake-io.ts";
import { rookery } from "../rookery.ts";

const RESULT: UndoResult = {
  task: 3,
  prompt: "tidy \x1b[2J up",
  undoTask: 4,
  again: { task: 3, undos: [4] },
  files: [
    { path: "/w/a", action: "restored", diff: "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-\x1b[2Jnew\n+old" },
    { path: "/w/b\n", action: "refused", reason: "task 5 has changed it since" },
  ],
  notes: ["of what commands did, nothing is covered"],
};
const REFUSED: UndoResult = {
  ...RESULT,
  files: RESULT.files.map((file) =>
    file.action === "refused" ? { path: "/w/b", action: file.action, reason: file.reason ?? "", forcible: true } : file,
  ),
};
const DONE: UndoResult = { ...RESULT, files: RESULT.files.slice(0, 1), notes: [] };
const DIFF = "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-␛[2Jnew\n+old\n";

test("without a terminal it undoes at once, shows the diffs harmlessly, and fails where a file stays as it is", async () => {
  const io = fakeIo();
  const agent = fakeAgent({ undo: () => RESULT });
  expect(await rookery(["sessions", "undo", "s", "--task", "3", "--force"], io, agent)).toBe(1);
  expect(io.out()).toBe(`${DIFF}restored /w/a\nrefused /w/b: task 5 has changed it since\n`);
  expect(io.err()).toBe(
    [
      "rookery: of what commands did, nothing is covered",
      "rookery: to do task 3 again: rookery sessions undo s --task 4",
      "",
    ].join("\n"),
  );
  expect(agent.log.filter(([what]) => what === "undoSession")).toEqual([
    ["undoSession", "s", { task: 3, force: true }],
  ]);
});

test.each([
  ["y", 0, "restored /w/a\n", 2],
  ["maybe\nno", 1, "", 1],
  ["", 1, "", 1],
])("at a terminal a line a file and the diffs come first, and %j decides", async (answer, code, out, calls) => {
  const io = fakeIo({ isTTY: true });
  const agent = fakeAgent({ undo: () => DONE });
  const exit = rookery(["sessions", "undo", "s"], io, agent);
  await written(io.err, "Undo task 3 (tidy ␛[2J up), 1 file? Type y or n: ");
  io.stdin.end(answer === "" ? "" : `${answer}\n`);
  expect(await exit).toBe(code);
  expect(io.out()).toBe(`would be restored /w/a\n${DIFF}${out}`);
  const undos = agent.log.filter(([what]) => what === "undoSession");
  expect(undos).toHaveLength(calls);
  expect(undos[0]).toEqual(["undoSession", "s", { force: false, dryRun: true }]);
  // The task that was shown, whatever has run since.
  if (calls > 1) expect(undos[1]).toEqual(["undoSession", "s", { force: false, task: 3 }]);
});

test("what is refused, why, and what is not covered is told before the question, and not twice", async () => {
  const io = fakeIo({ isTTY: true });
  const exit = rookery(["sessions", "undo", "s", "--task", "3"], io, fakeAgent({ undo: () => REFUSED }));
  await written(io.err, "Type y or n: ");
  expect(io.out()).toBe(`would be restored /w/a\nrefused /w/b: task 5 has changed it since\n${DIFF}`);
  const before = [
    "rookery: of what commands did, nothing is covered",
    "rookery: to undo what is refused too, and keep what is there: rookery sessions undo s --task 3 --force",
    "Undo task 3 (tidy ␛[2J up), 1 file, and leave 1 as it is? Type y or n: ",
  ].join("\n");
  expect(io.err()).toBe(before);
  io.stdin.end("y\n");
  expect(await exit).toBe(1);
  expect(io.out()).toMatch(/restored \/w\/a\nrefused \/w\/b: task 5 has changed it since\n$/);
  expect(io.err()).toBe(`${before}rookery: to do task 3 again: rookery sessions undo s --task 4\n`);
});

test("before the question there are 200 lines of diffs at most; a dry run shows all, and says of how many files it has none", async () => {
  const diff = Array.from({ length: 150 }, (_, at) => `-${at}`).join("\n");
  const files = ["a", "b", "c"].map((path) => ({ path, action: "deleted" as const, ...(path !== "c" && { diff }) }));
  const undo = (): UndoResult => ({ task: 1, files, notes: [] });
  const io = fakeIo({ isTTY: true });
  const exit = rookery(["sessions", "undo", "s"], io, fakeAgent({ undo }));
  await written(io.err, "Type y or n: ");
  const lines = io.out().trimEnd().split("\n");
  expect(lines).toHaveLength(204);
  expect(lines.slice(-2)).toEqual(["-49", "[101 more lines: rookery sessions undo s --dry-run]"]);
  io.stdin.end("n\n");
  expect(await exit).toBe(1);
  const dry = fakeIo({ isTTY: true });
  await rookery(["sessions", "undo", "s", "--dry-run"], dry, fakeAgent({ undo }));
  expect(dry.out().split("\n").slice(299, 302)).toEqual(["-149", "[no diffs of 1 more file]", "would be deleted a"]);
});

test("--yes does not ask; --dry-run does nothing; an undo with nothing to change is done without asking", async () => {
  const yes = fakeIo({ isTTY: true });
  expect(await rookery(["sessions", "undo", "s", "--yes"], yes, fakeAgent({ undo: () => DONE }))).toBe(0);
  const dry = fakeIo({ isTTY: true });
  const agent = fakeAgent({ undo: () => DONE });
  expect(await rookery(["sessions", "undo", "s", "--dry-run"], dry, agent)).toBe(0);
  expect(dry.out()).toBe(`${DIFF}would be restored /w/a\n`);
  expect(agent.log.filter(([what]) => what === "undoSession")).toHaveLength(1);
  const none = fakeIo({ isTTY: true });
  const unchanged: UndoResult = { task: 3, files: [{ path: "/w/a", action: "unchanged" }], notes: [] };
  const idle = fakeAgent({ undo: () => unchanged });
  expect(await rookery(["sessions", "undo", "s"], fakeIo({ isTTY: true }), idle)).toBe(0);
  expect(idle.log.filter(([what]) => what === "undoSession").at(-1)).toEqual([
    "undoSession",
    "s",
    { force: false, task: 3 },
  ]);
  const nothing: UndoResult = { nothing: "undone", files: [], notes: ["there is no task to undo"] };
  const over = fakeAgent({ undo: () => nothing });
  expect(await rookery(["sessions", "undo", "s"], none, over)).toBe(0);
  expect(over.log.filter(([what]) => what === "undoSession")).toHaveLength(1);
  expect(none.err()).toBe("rookery: there is no task to undo\n");
});

test("where files may be as a task left them and nothing of it is on record, it fails", async () => {
  const io = fakeIo();
  const undo = (): UndoResult => ({ nothing: "not-kept", files: [], notes: ["undo is off"] });
  expect(await rookery(["sessions", "undo", "s"], io, fakeAgent({ undo }))).toBe(1);
  expect(io.err()).toBe("rookery: undo is off\n");
  const json = fakeIo();
  expect(await rookery(["sessions", "undo", "s", "--output", "json"], json, fakeAgent({ undo }))).toBe(1);
  expect(JSON.parse(json.out())).toMatchObject({ session_id: "s", nothing: "not-kept" });
});

test("what can be done next is told as commands that work as they are typed, with the flags that were given", async () => {
  const io = fakeIo();
  const again = { task: 1, undos: [3, 2] };
  const nothing: UndoResult = { nothing: "undone", again, files: [], notes: [] };
  expect(await rookery(["sessions", "undo", "s"], io, fakeAgent({ undo: () => nothing }))).toBe(0);
  expect(io.err()).toBe(
    "rookery: to do task 1 again: rookery sessions undo s --task 3 && rookery sessions undo s --task 2\n",
  );
  const earlier = fakeIo();
  const unrecorded: UndoResult = { nothing: "not-kept", earlierTask: 1, files: [], notes: ["task 2 ran commands"] };
  const flags = ["--root", "/it's here", "--agent", "b"];
  expect(await rookery(["sessions", "undo", "s", ...flags], earlier, fakeAgent({ undo: () => unrecorded }))).toBe(1);
  expect(earlier.err()).toBe(
    [
      "rookery: task 2 ran commands",
      "rookery: to undo task 1, which is before it: rookery sessions undo s --root '/it'\\''s here' --agent b --task 1",
      "",
    ].join("\n"),
  );
});

test("as json nobody is asked, at a terminal neither, and nothing is shown but the result", async () => {
  const io = fakeIo({ isTTY: true });
  expect(await rookery(["sessions", "undo", "s", "--output", "json"], io, fakeAgent({ undo: () => DONE }))).toBe(0);
  expect([io.err(), JSON.parse(io.out()).files]).toEqual(["", DONE.files]);
});

test("as json it is one object; errors have their codes", async () => {
  const io = fakeIo();
  expect(await rookery(["sessions", "undo", "s", "--output", "json"], io, fakeAgent({ undo: () => RESULT }))).toBe(1);
  expect(JSON.parse(io.out())).toEqual({
    session_id: "s",
    task: 3,
    undo_task: 4,
    again: RESULT.again,
    prompt: RESULT.prompt,
    files: RESULT.files,
    notes: RESULT.notes,
  });
  const failing = fakeAgent({
    undo: () => {
      throw new RookeryError("session-locked", "session s is in use by process 7");
    },
  });
  expect(await rookery(["sessions", "undo", "s"], fakeIo(), failing)).toBe(1);
  expect(await rookery(["sessions", "undo", "s", "--task", "0"], fakeIo(), failing)).toBe(2);
});
