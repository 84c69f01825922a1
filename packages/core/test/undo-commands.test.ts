import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { command, git, repository, type UndoHome, undoHome, write } from "./support/undo-home.ts";

test("in a git work tree what commands changed, made, removed and linked is undone, modes too, and git itself is left as it was", async () => {
  await using home = await repository({ "a.txt": "a\r\n", "d/b.txt": "b", "gone.txt": "g", ".gitignore": "*.log\n" });
  home.write("untracked", "u", 0o600);
  home.write("x.log", "log");
  home.write("f", "f");
  symlinkSync("a.txt", home.pathOf("link"));
  chmodSync(home.pathOf("gone.txt"), 0o640);
  const before = home.tree();
  const own = gitState(home);
  await home.task(
    command(
      "echo more >> a.txt; chmod +x a.txt; rm gone.txt; mkdir -p new/er; echo n > new/er/n; echo u2 > untracked; rm -r d; ln -s new d; rm f; mkdir f; echo x > f/x; ln -sf b link; chmod 644 untracked; echo more >> x.log",
    ),
  );
  const { files, notes } = await home.session.undo();
  expect(files.filter(({ action }) => !["restored", "deleted"].includes(action))).toEqual([]);
  expect(home.tree()).toEqual({ ...before, "x.log": `${before["x.log"]}more\n` });
  expect(notes).toEqual([
    `of what commands did, files that git tracks or does not ignore below ${home.workspaceDir} are covered, and nothing else`,
  ]);
  expect(gitState(home)).toEqual(own);
});

test("the copy that a file tool writes beside a file is none of the files that come back or go", async () => {
  await using home = await repository({ a: "0" });
  const [old, made] = [".rookery-0123456789abcdef.tmp", ".rookery-fedcba9876543210.tmp"];
  home.write(old, "half");
  await home.task(command(`rm ${old}; echo half > ${made}; echo 1 > a`));
  const { files } = await home.session.undo();
  expect(files.map(({ path }) => path)).toEqual([home.pathOf("a")]);
});

test("a file that a tool and a command changed in one task goes back to the first of its states", async () => {
  await using home = await repository({ a: "0", b: "0", c: "0" });
  await home.task(
    write("a", "1"),
    command("echo 2 > a; echo 2 > b; echo 2 > c"),
    write("b", "3"),
    command("echo 4 > c"),
  );
  expect((await home.session.undo()).files).toHaveLength(3);
  expect(["a", "b", "c"].map((name) => home.text(name))).toEqual(["0", "0", "0"]);
});

test("what somebody changed after the commands is refused; an undo of commands can be undone", async () => {
  await using home = await repository({ a: "0", b: "0" });
  await home.task(command("echo 1 > a; echo 1 > b"));
  home.write("a", "mine");
  expect((await home.session.undo()).files).toMatchObject([{ action: "refused" }, { action: "restored" }]);
  expect([home.text("a"), home.text("b")]).toEqual(["mine", "0"]);
  const forced = await home.session.undo({ force: true });
  expect(home.text("a")).toBe("0");
  await home.session.undo({ task: forced.undoTask ?? 0 });
  expect(home.text("a")).toBe("mine");
});

test("outside of a git work tree, undo says that commands are not covered", async () => {
  await using home = await undoHome();
  await home.task(write("a", "1"), command("echo 2 > b"));
  await home.task(command("echo 3 > b"));
  const { files, notes } = await home.session.undo({ task: 1 });
  expect(files).toMatchObject([{ action: "deleted" }]);
  expect(notes).toEqual([
    "commands of task 1 ran, and what they did is not undone: the workspace is in no git work tree",
    "task 2 ran commands, and what they did cannot be undone: the workspace is in no git work tree",
  ]);
  expect(home.warnings).toEqual([]);
});

test("a repository without git is not covered, with a warning, nor is a task for which git takes too long; the next one is", async () => {
  await using home = await repository({ a: "0" }, {}, { PATH: "/nowhere" });
  await home.task(command("echo 1 > a"));
  expect(home.warnings).toEqual(["undo does not cover what commands do: git is not installed"]);
  const bin = join(home.undoDir, "..", "slow-bin");
  gitProgram(bin, "exec /bin/sleep 60");
  await using slow = await repository({ a: "0" }, {}, { PATH: bin });
  await slow.task(command("echo 1 > a"));
  gitProgram(bin, `PATH=${process.env.PATH} exec git "$@"`);
  await slow.task(command("echo 2 > a"));
  const reason = "recording the git work tree would have taken longer than 2 s";
  expect(slow.warnings).toEqual([`undo does not cover what commands do: ${reason}`]);
  expect(await slow.session.undo()).toMatchObject({ task: 2, files: [{ action: "restored" }] });
  expect(slow.text("a")).toBe("1\n");
  expect((await slow.session.undo()).notes).toEqual([
    `task 1 ran commands, and what they did cannot be undone: ${reason}`,
  ]);
});

test("git is asked for contents by one process and for modes by another, however many files there are", async () => {
  const names = Array.from({ length: 40 }, (_, at) => `f${at}`);
  const files = Object.fromEntries(names.map((name) => [name, `${name}\n`.repeat(4000)]));
  const log = join(mkdtempSync(join(tmpdir(), "rookery-test-")), "log");
  gitProgram(dirname(log), `echo "$*" >> ${log}; PATH=${process.env.PATH} exec git "$@"`);
  await using home = await repository(files, {}, { PATH: `${dirname(log)}:${process.env.PATH}` });
  await home.task(command("chmod 600 f*; for f in f1*; do echo 1 > $f; done"));
  rmSync(log);
  await home.session.undo();
  expect(home.files()).toEqual(Object.fromEntries(names.map((name) => [name, `644 ${files[name]}`])));
  const words = readFileSync(log, "utf8").match(/cat-file|ls-tree/g);
  expect(words?.sort()).toEqual(["cat-file", "ls-tree"]);
  rmSync(dirname(log), { recursive: true });
});

test("when objects are gone from the repository, what the next commands do is covered again", async () => {
  await using home = await repository({ a: "0", "d/b": "0" });
  await home.task(command("true"));
  await home.task(command("rm -r .git; git init -q; echo 1 > a"));
  await home.task(command("echo 2 > a; echo 2 > d/b"));
  expect(home.warnings).toHaveLength(1);
  expect(await home.session.undo()).toMatchObject({ task: 3, files: [{ action: "restored" }, { action: "restored" }] });
  expect([home.text("a"), home.text("d/b")]).toEqual(["1\n", "0"]);
});

test("where git cannot say what commands did, what file tools did is undone, and nothing else is said to be covered", async () => {
  await using home = await repository({ a: "0", b: "0" });
  await home.task(write("a", "1"), command("echo 1 > b"));
  rmSync(join(home.undoDir, "git", "objects"), { recursive: true });
  const { files, notes } = await home.session.undo();
  expect(files).toMatchObject([{ path: home.pathOf("a"), action: "restored" }]);
  expect(notes).toEqual([expect.stringMatching(/^what commands of task 1 did is not undone: git diff-tree failed: /)]);
  expect([home.text("a"), home.text("b")]).toEqual(["0", "1\n"]);
});

test("a hostile repository runs nothing: no filter, hook, fsmonitor, include, and no nested one", async () => {
  await using home = await repository({ a: "0" });
  const mark = (name: string): string => `touch ${join(home.workspaceDir, "..", `ran-${name}`)}`;
  const poison = (root: string): void => {
    const git = join(root, ".git");
    appendConfig(
      git,
      `[filter "x"]\n\tclean = "${mark("clean")}; cat"\n\tsmudge = "${mark("smudge")}; cat"\n\trequired = true\n[core]\n\tfsmonitor = "${mark("fsmonitor")}"\n\tsshCommand = "${mark("ssh")}"\n\tpager = "${mark("pager")}"\n\thooksPath = hooks\n[diff "x"]\n\ttextconv = "${mark("textconv")}"\n\tcommand = "${mark("diff")}"\n[include]\n\tpath = evil\n`,
    );
    writeFileSync(join(git, "evil"), `[alias]\n\tls-files = "!${mark("alias")}"\n`);
    mkdirSync(join(git, "hooks"), { recursive: true });
    for (const hook of ["post-index-change", "pre-commit", "fsmonitor-watchman"]) {
      writeFileSync(join(git, "hooks", hook), `#!/bin/sh\n${mark(hook)}\n`, { mode: 0o755 });
    }
  };
  home.write(".gitattributes", "* filter=x diff=x text eol=crlf ident working-tree-encoding=UTF-16\n");
  home.write("crlf", "one\r\ntwo $Id$\r\n");
  const nested = home.pathOf("nested");
  mkdirSync(nested);
  git(nested, "init", "-q");
  writeFileSync(join(nested, "in"), "0");
  git(nested, "add", "in");
  git(nested, "-c", "user.name=a", "-c", "user.email=a", "commit", "-qm", "x");
  poison(home.workspaceDir);
  poison(nested);
  for (const text of ["1", "2"])
    await home.task(command(`echo ${text} > a; echo ${text} > crlf; echo ${text} > nested/in`));
  await home.session.undo();
  const { notes } = await home.session.undo();
  expect([home.text("a"), home.text("crlf"), home.text("nested/in")]).toEqual(["0", "one\r\ntwo $Id$\r\n", "2\n"]);
  expect(notes).toContain("left out there: nested/");
  const ran = (): string[] => readdirSync(join(home.workspaceDir, "..")).filter((name) => name.startsWith("ran-"));
  expect(ran()).toEqual([]);
  // The traps are set: git itself walks into them.
  expect(() => git(home.workspaceDir, "add", "-A")).toThrow();
  expect(ran()).toContain("ran-fsmonitor");
});

test("a file that was there before, ignored or left out, is not taken for one that a command made, whatever made it visible", async () => {
  await using home = await repository({ a: "0", ".gitignore": "*.secret\n" }, { undo: { maxFileBytes: 100 } });
  const hidden = ["1.secret", "long", "nested/in", "venv/bin/x"];
  for (const name of hidden) home.write(name, "precious");
  home.write("long", "x".repeat(101));
  home.write("venv/.gitignore", "*\n");
  git(home.pathOf("nested"), "init", "-q");
  git(home.pathOf("nested"), "add", "in");
  git(home.pathOf("nested"), "-c", "user.name=a", "-c", "user.email=a", "commit", "-qm", "x");
  await home.task(command("echo > .gitignore; touch new; rm venv/.gitignore; rm -r nested/.git; echo short > long"));
  const { files } = await home.session.undo();
  const older = { action: "not-kept", reason: MAYBE_OLDER };
  for (const name of hidden.filter((name) => name !== "long"))
    expect(files).toContainEqual({ ...older, path: home.pathOf(name) });
  const long = { path: home.pathOf("long"), action: "not-kept" };
  expect(files).toContainEqual({ ...long, reason: "it was longer than undo.max_file_bytes or could not be read" });
  expect([home.text(".gitignore"), home.text("long")]).toEqual(["*.secret\n", "short\n"]);
  expect(existsSync(home.pathOf("new"))).toBe(false);
  home.write("2.secret", "precious");
  await home.task(command("git add -f 2.secret"));
  expect((await home.session.undo({ task: 3, force: true })).files).toEqual([
    { ...older, path: home.pathOf("2.secret") },
  ]);
  expect(home.text("2.secret")).toBe("precious");
});

test("a directory that a file or a link took the place of comes back", async () => {
  await using home = await repository({ "d/e/b": "0", "f/b": "0" });
  const before = home.tree();
  await home.task(command("rm -r d f; echo x > d; ln -s d f"));
  await home.session.undo();
  expect(home.tree()).toEqual(before);
});

test("a linked work tree is recorded whole from a workspace below its root, and files that are too long are named as left out", async () => {
  await using home = await repository({ a: "0", "sub/b": "0" }, { undo: { maxFileBytes: 100 } });
  const linked = join(home.workspaceDir, "..", "linked");
  git(home.workspaceDir, "worktree", "add", "-q", linked);
  home.workspaceDir = join(linked, "sub");
  home.write("long", "x".repeat(101));
  await home.open();
  await home.task(command("echo 1 > b; echo 1 > ../a"));
  const { files, notes } = await home.session.undo();
  expect(files).toHaveLength(2);
  expect(notes).toContain("left out there: sub/long");
  expect([readFileSync(join(linked, "a"), "utf8"), home.text("b")]).toEqual(["0", "0"]);
  expect(statSync(join(home.undoDir, "git")).mode & 0o777).toBe(0o700);
  expect(existsSync(join(home.undoDir, "git", "objects", "info", "alternates"))).toBe(true);
});

test("a repository with SHA-256 for its hash is covered, since hashes are ours", async () => {
  await using home = await undoHome();
  git(home.workspaceDir, "init", "-q", "--object-format=sha256");
  home.write("a", "0");
  git(home.workspaceDir, "add", "a");
  await home.task(command("echo 1 > a"));
  await home.session.undo();
  expect([home.text("a"), home.warnings]).toEqual(["0", []]);
});

test("a repository that names the hash it has anyway is recorded with its tracked files that are ignored", async () => {
  await using home = await repository({ a: "0", ".gitignore": "b\n" });
  home.write("b", "0");
  git(home.workspaceDir, "add", "-f", "b");
  git(home.workspaceDir, "config", "core.repositoryFormatVersion", "1");
  git(home.workspaceDir, "config", "extensions.objectFormat", "sha1");
  await home.task(command("echo 1 > b"));
  await home.session.undo();
  expect([home.text("b"), home.warnings]).toEqual(["0", []]);
});

test("whatever commands and tools did to a repository, undoing task by task gives the tree of before", async () => {
  const name = fc.constantFrom("a", "b", "d/a", "d/e/b", "x");
  const change = fc.oneof(
    fc.tuple(name, fc.string({ maxLength: 3 })).map(([path, text]) => write(path, text)),
    fc.tuple(name, fc.nat(9)).map(([path, n]) => command(`mkdir -p $(dirname ${path}); echo ${n} > ${path}`)),
    name.map((path) => command(`rm -rf ${path}`)),
    name.map((path) => command(`chmod 700 ${path}`)),
    fc.tuple(name, name).map(([from, to]) => command(`mv ${from} ${to}`)),
    name.map((path) => command(`rm -rf ${path}; ln -s b ${path}`)),
    fc.constant(command("git add -A; git -c user.name=a -c user.email=a commit -qm x")),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(change, { maxLength: 3 }), { minLength: 1, maxLength: 3 }), async (tasks) => {
      await using home = await repository({ a: "0", "d/a": "0", "d/e/b": "0" });
      const trees = [];
      for (const calls of tasks) {
        const before = home.files();
        await home.task(...calls);
        if (JSON.stringify(before) !== JSON.stringify(home.files())) trees.push(before);
      }
      for (const tree of trees.toReversed()) {
        for (let undone = home.files(); JSON.stringify(undone) !== JSON.stringify(tree); undone = home.files()) {
          const { files } = await home.session.undo();
          expect(files.filter(({ action }) => action === "refused" || action === "not-kept")).toEqual([]);
          expect(files.length).toBeGreaterThan(0);
        }
      }
    }),
    { numRuns: 5 },
  );
});

const MAYBE_OLDER = "it may have been there before this task, ignored or left out, and what was there then is not kept";

/** A program `git` of our own. */
function gitProgram(bin: string, script: string): void {
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, "git"), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
}

function appendConfig(gitDir: string, text: string): void {
  writeFileSync(join(gitDir, "config"), readFileSync(join(gitDir, "config"), "utf8") + text);
}

/** What of git is the user's: refs, index, objects, and that they are sound. */
function gitState({ workspaceDir }: UndoHome): unknown {
  const head = git(workspaceDir, "rev-parse", "HEAD");
  const index = git(workspaceDir, "ls-files", "--stage");
  const objects = git(workspaceDir, "count-objects", "-v");
  const refs = git(workspaceDir, "for-each-ref");
  return { head, index, objects, refs, fsck: git(workspaceDir, "fsck", "--strict") };
}
