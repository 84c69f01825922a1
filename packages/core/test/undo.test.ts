import {
  appendFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { ProcessRegistry } from "../src/environment/process/process-registry.ts";
import { toolsetDefinitions } from "../src/environment/toolset-registry.ts";
import { userText } from "../src/omnimessage/build.ts";
import type { OmniMessage } from "../src/omnimessage/message.ts";
import { UndoStore } from "../src/session/undo/undo-store.ts";
import type { UndoResult } from "../src/session/undo/undo-task.ts";
import { command, repository, type UndoHome, undoHome, write } from "./support/undo-home.ts";

const allow = { approve: async () => "allow" as const };

test("undo puts back bytes and modes of the last task, and takes away what was not there with the directories made for it", async () => {
  await using home = await undoHome();
  home.write("a.sh", "old\r\n\0", 0o750);
  await home.task(write("a.sh", "new"), write("deep/er/b.txt", "b"), write("a.sh", "newer"));
  const { files, ...result } = await home.session.undo();
  expect(result).toMatchObject({ task: 1, prompt: "do it", undoTask: 2, notes: [] });
  expect(actions(home, files)).toEqual({ "a.sh": "restored", "deep/er/b.txt": "deleted" });
  expect(files[1]?.diff).toBe("--- a/deep/er/b.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-b\n\\ No newline at end of file");
  expect(home.tree()).toEqual({ "a.sh": "750 old\r\n\0" });
});

test("each undo goes one task further back; a named undo undone does the task again", async () => {
  await using home = await undoHome();
  home.write("a", "0", 0o644);
  await home.task(write("a", "1"));
  await home.task();
  await home.task(write("a", "2"), write("b", "2"));
  expect((await home.session.undo()).task).toBe(2);
  expect(home.tree()).toEqual({ a: "644 1" });
  expect((await home.session.undo()).task).toBe(1);
  expect(home.text("a")).toBe("0");
  expect(await home.session.undo()).toEqual({
    files: [],
    nothing: "undone",
    again: { task: 1, undos: [4] },
    notes: ["there is no task to undo: what is on record is undone"],
  });
  // Tasks 3 and 4 are the undos of 2 and 1.
  expect((await home.session.undo({ task: 4 })).files).toMatchObject([{ action: "restored" }]);
  expect(home.text("a")).toBe("1");
  expect((await home.session.undo()).task).toBe(1);
});

test("what somebody changed since is refused and named, and with force put back, what was there being kept", async () => {
  await using home = await undoHome();
  home.write("a", "0");
  home.write("b", "0");
  await home.task(write("a", "1"), write("b", "1"), write("c", "1"));
  home.write("a", "mine");
  rmSync(join(home.workspaceDir, "b"));
  home.write("c", "mine");
  const since = { reason: "it was changed since by somebody else" };
  expect((await home.session.undo()).files).toMatchObject([
    { action: "refused", ...since },
    { action: "refused", ...since },
    { action: "refused", ...since },
  ]);
  expect([home.text("a"), home.text("c")]).toEqual(["mine", "mine"]);
  const forced = await home.session.undo({ force: true });
  expect(actions(home, forced.files)).toEqual({ a: "restored", b: "restored", c: "deleted" });
  expect([home.text("a"), home.text("b"), existsSync(join(home.workspaceDir, "c"))]).toEqual(["0", "0", false]);
  expect((await home.session.undo({ task: forced.undoTask ?? 0 })).files).toHaveLength(3);
  expect([home.text("a"), existsSync(join(home.workspaceDir, "b")), home.text("c")]).toEqual(["mine", false, "mine"]);
});

test("a task whose files a later one changed is refused by the number of that one", async () => {
  await using home = await undoHome();
  await home.task(write("a", "1"), write("b", "1"));
  await home.task(write("a", "2"));
  expect((await home.session.undo({ task: 1 })).files).toMatchObject([
    { action: "refused", reason: "task 2 has changed it since" },
    { action: "deleted" },
  ]);
  await expect(home.session.undo({ task: 9 })).rejects.toMatchObject({
    code: "usage",
    hint: "the last ones are 1 (do it), 2 (do it), 3 (undo of 1)",
  });
});

test("the task that is named as the one that changed a file is the one that left what is there", async () => {
  await using home = await repository({ b: "0", c: "0" });
  await home.task(write("a", "1"), write("b", "1"), write("c", "1"));
  await home.session.undo();
  await home.session.undo({ task: 2 });
  await home.task(write("a", "4"), command("echo 4 > b"), write("c", "4"));
  home.write("c", "mine");
  expect((await home.session.undo({ task: 1 })).files).toMatchObject([
    { reason: "task 4 has changed it since", forcible: true },
    { reason: "task 4 has changed it since", forcible: true },
    { reason: "it was changed since by somebody else", forcible: true },
  ]);
});

test("where commands ran of which nothing is on record, they may be who changed a file", async () => {
  await using home = await undoHome();
  await home.task(write("a", "1"), command("echo 2 > a"));
  expect((await home.session.undo()).files).toMatchObject([
    { reason: "it was changed since by somebody else, or by commands whose changes are not on record" },
  ]);
});

test("force is offered where it would do it, and not where it would not", async () => {
  await using home = await undoHome({ undo: { maxFileBytes: 10 } });
  await home.task(write("a", "1"), write("b", "1"), write("c", "1"));
  home.write("a", "mine");
  home.write("b", "too long by half");
  rmSync(home.pathOf("c"));
  mkdirSync(home.pathOf("c"));
  const { files } = await home.session.undo();
  expect(files.map(({ action, forcible }) => [action, forcible])).toEqual([
    ["refused", true],
    ["refused", undefined],
    ["refused", undefined],
  ]);
  const forced = await home.session.undo({ force: true, dryRun: true });
  expect(forced.files).toMatchObject([
    { action: "deleted" },
    { reason: "what is there now could not be kept: it is longer than undo.max_file_bytes" },
    { reason: "it is a directory now" },
  ]);
});

test("where what somebody put in the way stays, a file is refused as planned, and force is not offered", async () => {
  await using home = await repository({ "d/e/f": "0", g: "0", h: "0" });
  await home.task(write("d/e/f", "1"), write("new/f", "1"), command("rm g h; mkdir h; echo > h/made"));
  for (const name of ["d", "new"]) {
    rmSync(home.pathOf(name), { recursive: true });
    home.write(name, "mine");
  }
  home.write("g/mine", "mine");
  const before = home.tree();
  for (const force of [false, true]) {
    const { files } = await home.session.undo({ force, dryRun: true });
    expect(files.map(({ path, action, reason, forcible }) => [basename(path), action, reason, forcible])).toEqual([
      ["f", "refused", "its directory is a file now", undefined],
      ["g", "refused", "it is a directory now", undefined],
      ["h", "restored", undefined, undefined],
      ["made", "deleted", undefined, undefined],
      ["f", "unchanged", undefined, undefined],
    ]);
  }
  expect(home.tree()).toEqual(before);
  home.write("h/made", "mine");
  const { files } = await home.session.undo();
  expect(files[2]).toMatchObject({ action: "refused", reason: "it is a directory now", forcible: true });
  await home.session.undo({ force: true });
  expect(home.text("h")).toBe("0");
});

test("behind an undo that did a part, the undos that do all of the task again are named in order, each time", async () => {
  await using home = await undoHome();
  home.write("a", "0");
  await home.task(write("a", "1"), write("b", "1"));
  home.write("b", "mine");
  expect((await home.session.undo()).again).toEqual({ task: 1, undos: [2] });
  const { undoTask, again } = await home.session.undo({ force: true });
  expect([undoTask, again]).toEqual([3, { task: 1, undos: [3, 2] }]);
  expect((await home.session.undo()).again).toEqual(again);
  await home.session.undo({ task: 3 });
  await home.session.undo({ task: 2 });
  expect([home.text("a"), home.text("b")]).toEqual(["1", "mine"]);
});

test("an undo that holds another part of the task is named too when one of two was undone and the task is undone again", async () => {
  await using home = await undoHome();
  home.write("a", "0");
  await home.task(write("a", "1"), write("b", "1"));
  home.write("b", "mine");
  await home.session.undo();
  await home.session.undo({ force: true });
  await home.session.undo({ task: 2 });
  expect(await home.session.undo({ task: 1 })).toMatchObject({ undoTask: 5, again: { task: 1, undos: [5, 3] } });
});

test("where the workspace was moved away nothing is done, with force neither, and it is said what to do", async () => {
  await using home = await undoHome();
  home.write("a", "0");
  await home.task(write("a", "1"));
  const moved = `${home.workspaceDir}-moved`;
  renameSync(home.workspaceDir, moved);
  await expect(home.session.undo({ force: true })).rejects.toMatchObject({
    code: "workspace-missing",
    message: `the workspace ${JSON.stringify(home.workspaceDir)} does not exist`,
    hint: "put it back to undo what was done in it",
  });
  await home.session.dispose();
  await expect(home.agent.undoSession(home.session.sessionId)).rejects.toMatchObject({ code: "workspace-missing" });
  expect(existsSync(home.workspaceDir)).toBe(false);
  renameSync(moved, home.workspaceDir);
  expect((await home.agent.undoSession(home.session.sessionId)).files).toMatchObject([{ action: "restored" }]);
});

test("a task whose files are already as they were before it counts as undone", async () => {
  await using home = await undoHome();
  await home.task(write("a", "1"));
  await home.task(write("b", "1"));
  rmSync(home.pathOf("b"));
  expect(await home.session.undo()).toMatchObject({ task: 2, files: [{ action: "unchanged" }] });
  expect(await home.session.undo()).toMatchObject({ task: 1, files: [{ action: "deleted" }] });
});

test("a file that cannot be looked at is refused, and the others are undone", async () => {
  await using home = await undoHome();
  await home.task(write("d/a", "1"), write("e", "1"));
  rmSync(home.pathOf("d"), { recursive: true });
  symlinkSync("d", home.pathOf("d"));
  expect((await home.session.undo()).files).toMatchObject([
    { action: "refused", reason: "too many symbolic links encountered (ELOOP)" },
    { action: "deleted" },
  ]);
});

test("an undo that cannot be put on record says so, and the model is told of it all the same", async () => {
  await using home = await undoHome();
  await home.task(write("a", "1"));
  const add = vi.spyOn(UndoStore.prototype, "add").mockImplementation(() => {
    throw new Error("no room");
  });
  const { files, notes, undoTask } = await home.session.undo();
  add.mockRestore();
  expect([files, undoTask]).toMatchObject([[{ action: "deleted" }], undefined]);
  expect(notes).toEqual(["that task 1 is undone could not be put on record: no room"]);
  expect(home.record()).toContain("[undone]");
});

test.each([
  [
    "standard",
    [
      { name: "edit_file", args: { file_path: "a", old_string: "0", new_string: "1" } },
      { name: "write_file", args: { file_path: "a", content: "1" } },
    ],
  ],
  ["strict", [{ name: "write", args: { path: "a", content: "1", mode: "replace" } }]],
  [
    "minimal",
    [
      { name: "write", args: { path: "a", content: "1" } },
      { name: "edit", args: { path: "a", oldText: "0", newText: "1" } },
    ],
  ],
])("what a file tool of the toolset %s writes is undone, whichever it is", async (toolset, calls) => {
  const commands = ["exec_command", "input_command", "bash"];
  const writing = toolsetDefinitions(toolset).filter(
    ({ name, permission }) => permission === "rw" && !commands.includes(name),
  );
  expect(writing.map(({ name }) => name)).toEqual(calls.map(({ name }) => name));
  for (const call of calls) {
    await using home = await undoHome({ toolset });
    home.write("a", "0");
    await home.task(call);
    expect(home.text("a")).toBe("1");
    await home.session.undo();
    expect(home.text("a")).toBe("0");
  }
});

test("a dry run shows the same and changes nothing", async () => {
  await using home = await undoHome();
  home.write("a", "0\n");
  await home.task(write("a", "1\n"));
  const before = [home.tree(), home.record()];
  const { files, undoTask } = await home.session.undo({ dryRun: true });
  expect(files).toMatchObject([{ action: "restored", diff: "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-1\n+0" }]);
  expect(undoTask).toBeUndefined();
  expect([home.tree(), home.record()]).toEqual(before);
});

test("the next request tells the model, also of a resumed session, and a restored file counts as seen", async () => {
  await using home = await undoHome();
  home.write("a", "0");
  await home.task(write("a", "1"), write("b", "1"));
  await home.session.undo();
  const lines = readFileSync(home.session.traceFile);
  const live = await home.task(write("a", "2"));
  const said = sentTexts(live.requests[0] ?? []);
  expect(said).toEqual([
    `[undone]\nThe user has undone changes of an earlier task. These files are as they were before it:\n- put back: "${join(home.workspaceDir, "a")}"\n- taken away: "${join(home.workspaceDir, "b")}"\n[/undone]`,
    "do it",
  ]);
  expect(home.text("a")).toBe("2");
  await home.session.dispose();

  writeFileSync(home.session.traceFile, lines);
  home.write("a", "0");
  const resumed = await home.resume();
  const again = await home.task(write("a", "2"));
  expect(sentTexts(again.requests[0] ?? [])).toEqual(said);
  expect(home.text("a")).toBe("2");
  expect(readFileSync(resumed.traceFile, "utf8")).not.toContain("harness-stopped");
});

test("a session that nobody has open is undone through its agent, and goes on counting when it is resumed", async () => {
  await using home = await undoHome();
  home.write("a", "0");
  await home.task(write("a", "1"));
  const { sessionId } = home.session;
  await expect(home.agent.undoSession(sessionId)).rejects.toMatchObject({ code: "session-locked" });
  await home.session.dispose();
  expect((await home.agent.undoSession(sessionId)).undoTask).toBe(2);
  expect(home.text("a")).toBe("0");
  await home.resume();
  const { requests } = await home.task(write("a", "3"));
  expect(sentTexts(requests[0] ?? [])[0]).toMatch(/^\[undone\]/);
  expect(await home.session.undo()).toMatchObject({ task: 3, undoTask: 4 });
  expect(home.text("a")).toBe("0");
});

test.skipIf(process.platform !== "linux")(
  "what a killed process left running of a session is ended before the session is undone, and not by a dry run",
  async () => {
    await using home = await undoHome();
    await home.task(write("a", "1"));
    await home.session.dispose();
    const left = new ProcessRegistry({ ownerFile: join(dirname(home.session.traceFile), "processes") }).run({
      file: "sleep",
      args: ["60"],
      cwd: home.workspaceDir,
      env: { PATH: process.env.PATH ?? "" },
    });
    let hasEnded = false;
    const ended = left.ended.then((end) => {
      hasEnded = true;
      return end;
    });
    await home.agent.undoSession(home.session.sessionId, { dryRun: true });
    expect(hasEnded).toBe(false);
    await home.agent.undoSession(home.session.sessionId);
    expect(await ended).toMatchObject({ outcome: "exited", signal: "SIGTERM" });
  },
);

test("undo is refused while a run is going on, and a run while undo is", async () => {
  await using home = await undoHome();
  await home.task(write("a", "1"));
  const undo = home.session.undo();
  await expect(home.session.undo()).rejects.toMatchObject({ code: "session-busy" });
  await expect(home.session.run([userText("x")]).next()).rejects.toMatchObject({ code: "session-busy" });
  await undo;
  const run = home.session.run([userText("x")], allow);
  await run.next();
  await expect(home.session.undo()).rejects.toMatchObject({ code: "session-busy" });
  await run.return({} as never);
  await home.session.dispose();
  await expect(home.session.undo()).rejects.toMatchObject({ code: "session-closed" });
});

test("a session that changes nothing keeps nothing", async () => {
  await using home = await undoHome();
  home.write("a", "0");
  await home.task({ name: "read_file", args: { file_path: "a" } });
  expect(existsSync(home.undoDir)).toBe(false);
  expect((await home.session.undo()).files).toEqual([]);
  expect(existsSync(home.undoDir)).toBe(false);
});

test("what is too long or too much is said once, written all the same, and not kept", async () => {
  await using home = await undoHome({ undo: { maxFileBytes: 10 } });
  home.write("long", "x".repeat(11));
  home.write("a", "y".repeat(10));
  await home.task(write("long", "1"), write("a", "1"));
  expect(home.text("long")).toBe("1");
  const { files } = await home.session.undo();
  expect(actions(home, files)).toEqual({ a: "restored", long: "not-kept" });
  expect(home.warnings).toEqual([
    `${join(home.workspaceDir, "long")} was not kept, so its change cannot be undone: it is longer than undo.max_file_bytes`,
  ]);
  await using small = await undoHome({ undo: { maxBytes: 25 } });
  for (const name of ["a", "b", "c"]) small.write(name, name.repeat(10));
  await small.task(write("a", "1"), write("b", "1"), write("c", "1"));
  expect((await small.session.undo()).files).toMatchObject([
    { action: "restored" },
    { action: "restored" },
    { action: "not-kept", reason: "what undo keeps of this session has reached undo.max_bytes" },
  ]);
});

test("where nothing can be kept the write is done, with a warning; where undo is off nothing is", async () => {
  await using home = await undoHome();
  mkdirSync(dirname(home.undoDir), { recursive: true });
  writeFileSync(home.undoDir, "in the way");
  await home.task(write("a", "1"));
  expect(home.text("a")).toBe("1");
  expect(home.warnings).toHaveLength(1);
  await using off = await undoHome({ undo: { enabled: false } });
  await off.task(write("a", "1"), command("true"));
  expect(existsSync(off.undoDir)).toBe(false);
});

test("a journal whose last line is torn, and damaged contents, cost no more than themselves", async () => {
  await using home = await undoHome();
  home.write("a", "0");
  home.write("b", "0b");
  await home.task(write("a", "1"), write("b", "1"));
  appendFileSync(join(home.undoDir, "journal.jsonl"), '\n{"type":"file","task":2,"pa');
  const blobs = join(home.undoDir, "blobs");
  for (const name of readdirSync(blobs)) {
    if (readFileSync(join(blobs, name), "utf8") === "0b") writeFileSync(join(blobs, name), "xx");
  }
  expect(await home.session.undo()).toMatchObject({
    task: 1,
    undoTask: 2,
    files: [{ action: "restored" }, { action: "not-kept", reason: "what was kept of it is damaged or gone" }],
  });
  expect([home.text("a"), home.text("b")]).toEqual(["0", "1"]);
});

test("what is kept is for its owner alone", async () => {
  await using home = await undoHome();
  home.write("a", "0");
  await home.task(write("a", "1"));
  for (const [path, mode] of [
    ["", 0o700],
    ["journal.jsonl", 0o600],
    ["blobs", 0o700],
  ] as const) {
    expect(statSync(join(home.undoDir, path)).mode & 0o777).toBe(mode);
  }
  for (const name of readdirSync(join(home.undoDir, "blobs"))) {
    expect(statSync(join(home.undoDir, "blobs", name)).mode & 0o777).toBe(0o600);
  }
});

test("a hard link stays one, a directory that became a link is not followed", async () => {
  await using home = await undoHome();
  home.write("a", "0");
  linkSync(join(home.workspaceDir, "a"), join(home.workspaceDir, "b"));
  home.write("d/x", "0");
  await home.task(write("a", "1"), write("b", "2"), write("d/x", "1"));
  rmSync(join(home.workspaceDir, "d"), { recursive: true });
  mkdirSync(join(home.workspaceDir, "e"));
  home.write("e/x", "1");
  symlinkSync("e", join(home.workspaceDir, "d"));
  const { files } = await home.session.undo({ force: true });
  expect(files).toMatchObject([
    { action: "restored" },
    { action: "refused", reason: "its directory leads elsewhere now" },
  ]);
  expect([home.text("a"), home.text("b"), home.text("e/x")]).toEqual(["0", "0", "1"]);
  expect(statSync(join(home.workspaceDir, "a")).nlink).toBe(2);
});

test("whatever the tasks wrote, undoing the last of them one by one gives the tree of before", async () => {
  const name = fc.constantFrom("a", "b", "d/a", "d/e/b", "f/a");
  const change = fc.oneof(
    fc.tuple(name, fc.string()).map(([path, text]) => write(path, text)),
    name.map((path) => ({
      name: "edit_file",
      args: { file_path: path, old_string: "0", new_string: "1", replace_all: true },
    })),
  );
  const mode = fc.constantFrom(0o600, 0o644, 0o755);
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.constantFrom("a", "d/a"), mode), { maxLength: 2 }),
      fc.array(fc.array(change, { maxLength: 4 }), { minLength: 1, maxLength: 4 }),
      async (given, tasks) => {
        await using home = await undoHome();
        for (const [path, mode] of given) home.write(path, "0 0", mode);
        const trees = [];
        for (const calls of tasks) {
          const before = home.tree();
          await home.task(...calls);
          if (JSON.stringify(before) !== JSON.stringify(home.tree())) trees.push(before);
        }
        for (const tree of trees.toReversed()) {
          expect((await home.session.undo()).files.every(({ action }) => action !== "refused")).toBe(true);
          expect(home.tree()).toEqual(tree);
        }
      },
    ),
    { numRuns: 12 },
  );
});

/** The names of the files, relative to the workspace, with what was done. */
function actions(home: Pick<UndoHome, "workspaceDir">, files: UndoResult["files"]): Record<string, string> {
  return Object.fromEntries(files.map(({ path, action }) => [path.slice(home.workspaceDir.length + 1), action]));
}

function sentTexts(messages: readonly OmniMessage[]): string[] {
  return messages.flatMap(({ payload }) => (payload.type === "text" ? [payload.text] : []));
}
