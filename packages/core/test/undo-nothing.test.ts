import { rmSync } from "node:fs";
import { expect, test } from "vitest";
import { command, repository, undoHome, write } from "./support/undo-home.ts";

test("where no task has changed anything, there is nothing to undo", async () => {
  await using home = await repository({ a: "0" }, { undo: { maxFileBytes: 10 } });
  await home.task({ name: "read_file", args: { file_path: "a" } });
  const nothing = { files: [], nothing: "unchanged" };
  const none = "there is no task to undo: no task has changed anything";
  expect(await home.session.undo()).toEqual({ ...nothing, notes: [none] });
  home.write("long", "x".repeat(11));
  await home.task(command("true"));
  expect(await home.session.undo()).toEqual({
    ...nothing,
    notes: [
      "there is no task to undo: no task has changed a file that is covered",
      `of what commands did, files that git tracks or does not ignore below ${home.workspaceDir} are covered, and nothing else`,
      "left out there: long",
    ],
  });
  await home.session.dispose();
  expect((await home.agent.undoSession(home.session.sessionId)).nothing).toBe("unchanged");
});

test("where only commands ran of which nothing is on record, what they did is not kept", async () => {
  await using home = await undoHome();
  await home.task(command("echo 1 > a"));
  expect(await home.session.undo()).toEqual({
    files: [],
    nothing: "not-kept",
    notes: ["task 1 ran commands, and what they did cannot be undone: the workspace is in no git work tree"],
  });
});

test("where nothing of the last task is on record, none before it is undone in its place, but named", async () => {
  await using home = await undoHome();
  await home.task(write("a", "1"));
  await home.task(write("b", "2"));
  await home.task(command("echo 3 > c"));
  await home.session.undo({ task: 2 });
  for (const options of [{}, { force: true }, { dryRun: true }, { task: 3 }]) {
    expect(await home.session.undo(options)).toEqual({
      files: [],
      nothing: "not-kept",
      earlierTask: 1,
      notes: ["task 3 ran commands, and what they did cannot be undone: the workspace is in no git work tree"],
    });
  }
  expect(home.text("a")).toBe("1");
});

test("where what a task that is undone left was not kept, that is said each time", async () => {
  await using home = await undoHome({ undo: { maxFileBytes: 1 } });
  home.write("long", "00");
  await home.task(write("long", "1"), write("a", "1"), command("true"));
  expect((await home.session.undo()).files).toMatchObject([{ action: "deleted" }, { action: "not-kept" }]);
  const { nothing, notes } = await home.session.undo();
  expect([nothing, ...notes]).toEqual([
    "not-kept",
    "there is no task to undo: what is on record is undone",
    "1 file of task 1 may be as it left it: not kept",
    "commands of task 1 ran, and what they did is not undone: the workspace is in no git work tree",
  ]);
});

test("where undo is off, that is said, also behind tasks that are undone", async () => {
  await using home = await undoHome();
  await home.task(write("a", "1"));
  await home.session.undo();
  await home.session.dispose();
  const off = "undo is off, so nothing is kept of what tasks change; with undo.enabled what later ones change is";
  expect(await home.agent.undoSession(home.session.sessionId, { undo: { enabled: false } })).toEqual({
    files: [],
    nothing: "not-kept",
    again: { task: 1, undos: [2] },
    notes: ["there is no task to undo: what is on record is undone", off],
  });
  await using never = await undoHome({ undo: { enabled: false } });
  await never.task(write("a", "1"));
  expect((await never.session.undo()).notes).toEqual(["there is no task to undo: nothing was kept", off]);
});

test("where the record has changes of which undo has nothing, as in a session that was imported, they are not kept", async () => {
  await using home = await undoHome();
  await home.task(write("a", "1"));
  await home.session.dispose();
  rmSync(home.undoDir, { recursive: true });
  const expected = { files: [], nothing: "not-kept", notes: [expect.stringContaining("the session was imported")] };
  expect(await home.agent.undoSession(home.session.sessionId)).toEqual(expected);
  expect(await (await home.resume()).undo()).toEqual(expected);
});
