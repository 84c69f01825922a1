import { rmSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, test } from "vitest";
import type { UndoResult } from "../src/session/undo/undo-task.ts";
import { command, forgetEnd, git, repository, type UndoHome, write } from "./support/undo-home.ts";

const TOO_LONG = "it is longer than undo.max_file_bytes";
const WAS_LONG = "it was longer than undo.max_file_bytes or could not be read";
const options = { undo: { maxFileBytes: 100 } };
const long = "x".repeat(101);

test("what is too long and was changed, moved, shortened or made by commands is not kept, and says so", async () => {
  await using home = await repository({ a: long, b: long, c: long, same: long }, options);
  await settle();
  await home.task(command("echo more >> a; mv b moved; echo short > c; head -c 101 /dev/zero > new"));
  const { task, files, notes } = await home.session.undo();
  expect(task).toBe(1);
  expect(outcomes(files)).toEqual({
    a: `not-kept: ${TOO_LONG}`,
    b: `not-kept: ${WAS_LONG}`,
    c: `not-kept: ${WAS_LONG}`,
    moved: `not-kept: ${TOO_LONG}`,
    new: `not-kept: ${TOO_LONG}`,
  });
  expect(notes[1]).toBe("left out there: a, b, c, same, moved, and 1 more");
  expect([home.text("a"), home.text("c")]).toEqual([`${long}more\n`, "short\n"]);
});

test("what is too long and was left alone is no change", async () => {
  await using home = await repository({ a: "0", long }, options);
  await settle();
  await home.task(write("a", "1"));
  await home.task(command("cat long"));
  expect(await home.session.undo()).toMatchObject({ task: 1, files: [{ action: "restored" }] });
});

test("a file that has grown too long in the task is not taken for one that somebody changed since", async () => {
  await using home = await repository({ a: "0", b: "0" }, options);
  await home.task(command("head -c 101 /dev/zero > a; cp a b"));
  home.write("b", "short");
  const { files } = await home.session.undo();
  expect(outcomes(files)).toEqual({
    a: `not-kept: ${TOO_LONG}`,
    b: "refused: what the task left there is not on record: it was longer than undo.max_file_bytes or could not be read",
  });
  await home.session.undo({ force: true });
  expect([home.text("a").length, home.text("b")]).toEqual([101, "0"]);
});

test("names that are not UTF-8 and nested repositories that a task made or removed are named as not kept", async () => {
  await using home = await repository({ a: "0" });
  home.write("old/in", "0");
  git(home.pathOf("old"), "init", "-q");
  git(home.pathOf("old"), "add", "in");
  git(home.pathOf("old"), "-c", "user.name=a", "-c", "user.email=a", "commit", "-qm", "x");
  await settle();
  await home.task(command("touch $(printf 'caf\\351'); git clone -q old new; rm -r old"));
  const { files } = await home.session.undo();
  expect(outcomes(files)).toEqual({
    "caf\ufffd": "not-kept: its name is not UTF-8",
    new: "not-kept: it is a repository of its own",
    old: "not-kept: it is a repository of its own",
  });
});

const IGNORED = { a: "0", ".gitignore": "build/\n.env\n" };
const OLDER = "it may have been there before this task, ignored or left out, and what was there then is not kept";

test("what was ignored before a task is not taken away with force, nor offered to be, whatever made it visible", async () => {
  await using home = await repository(IGNORED);
  home.write(".env", "secret");
  home.write("build/o", "0");
  await home.task(command("echo 1 > .gitignore; echo 2 > .env; echo n > new"));
  const { files } = await home.session.undo({ dryRun: true });
  expect(files.filter(({ forcible }) => forcible)).toEqual([]);
  expect(outcomes((await home.session.undo({ force: true })).files)).toEqual({
    ".env": `not-kept: ${OLDER}`,
    ".gitignore": "restored: undefined",
    new: "deleted: undefined",
    o: `not-kept: ${OLDER}`,
  });
  expect(home.files()).toMatchObject({ ".env": "644 2\n", "build/o": "644 0" });
});

test("nor is it where the harness was killed in the task, or what was ignored is not to be had any more", async () => {
  for (const loses of [forgetEnd, forgetBlobs]) {
    await using home = await repository(IGNORED);
    home.write(".env", "secret");
    await home.task(command("echo 1 > .gitignore; echo 2 > .env"));
    loses(home);
    const { files } = await home.session.undo({ force: true });
    expect(outcomes(files)).toMatchObject({ ".env": `not-kept: ${OLDER}`, ".gitignore": "restored: undefined" });
    expect(home.text(".env")).toBe("2\n");
  }
});

function forgetBlobs({ undoDir }: UndoHome): void {
  rmSync(join(undoDir, "blobs"), { recursive: true });
}

function outcomes(files: UndoResult["files"]): Record<string, string> {
  return Object.fromEntries(files.map(({ path, action, reason }) => [basename(path), `${action}: ${reason}`]));
}

/** Until what was just written is older than what the next task writes, for clocks of file systems too. */
function settle(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 50));
}
