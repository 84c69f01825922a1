import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { command, forgetEnd, repository, write } from "./support/undo-home.ts";

const SINCE = "the state after this task is not on record, so somebody else may have changed it since";
const MADE = "the state after this task is not on record, so somebody else may have made it since";

test("when the harness was killed in a task, what commands changed is put back with force alone, and what is overwritten is kept", async () => {
  await using home = await repository({ a: "0", gone: "0" });
  await home.task(command("echo 1 > a; echo 1 > b; rm gone"));
  forgetEnd(home);
  home.write("a", "1\nmy hours of work\n");
  const { files, notes } = await home.session.undo();
  expect(files).toMatchObject([
    { action: "refused", reason: SINCE, forcible: true },
    { action: "refused", reason: MADE, forcible: true },
    { action: "restored" },
  ]);
  expect(notes[1]).toBe("the state after task 1 is not on record; what is there now stands for it");
  expect([home.text("a"), home.text("gone")]).toEqual(["1\nmy hours of work\n", "0"]);
  const { undoTask } = await home.session.undo({ force: true });
  expect([home.text("a"), existsSync(home.pathOf("b"))]).toEqual(["0", false]);
  await home.session.undo({ task: undoTask ?? 0 });
  expect([home.text("a"), home.text("b")]).toEqual(["1\nmy hours of work\n", "1\n"]);
});

test("when the harness was killed in a task, what file tools left is put back unasked, since it is known", async () => {
  await using home = await repository({ a: "0", b: "0" });
  await home.task(write("a", "1"), command("true"), write("b", "1"), write("new", "1"));
  forgetEnd(home);
  const { files } = await home.session.undo();
  expect(files.map(({ action }) => action)).toEqual(["restored", "restored", "deleted"]);
  expect(home.files()).toEqual({ a: "644 0", b: "644 0" });
});

test("what was there before the next commands is no proof of what a killed task left", async () => {
  await using home = await repository({ a: "0" });
  await home.task(command("echo 1 > a"));
  forgetEnd(home);
  home.write("a", "mine");
  await home.task(command("true"));
  const { files, notes } = await home.session.undo({ task: 1 });
  expect(files).toMatchObject([{ action: "refused", reason: SINCE }]);
  expect(notes[1]).toBe(
    "the state after task 1 is not on record; what was there before the commands of task 2 stands for it",
  );
});

test("a directory where a killed task took a file away goes with force alone", async () => {
  await using home = await repository({ a: "0" });
  await home.task(command("rm a; mkdir a; echo 1 > a/b"));
  forgetEnd(home);
  expect((await home.session.undo()).files).toMatchObject([
    { action: "refused", reason: SINCE },
    { action: "refused", reason: MADE },
  ]);
  await home.session.undo({ force: true });
  expect(home.files()).toEqual({ a: "644 0" });
});
