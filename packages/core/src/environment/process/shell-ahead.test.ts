import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { mkdir, mkdtemp, readFile, realpath, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { isRunning, readPid } from "../../../test/support/processes.ts";
import { endProcessTree } from "./end-process-tree.ts";
import { ProcessRegistry } from "./process-registry.ts";
import type { ProcessEnd, RunOptions } from "./run-process.ts";
import { scriptShell, shellCommand } from "./shell.ts";
import { ShellAhead } from "./shell-ahead.ts";
import type { PipedStart } from "./start-piped.ts";

let home: string;
let cwd: string;
let registry: ProcessRegistry;

/** However busy the machine is. */
const SOON = { timeout: 10_000, interval: 10 };

/** Each shell says of itself that it has begun to read its profile. */
const PROFILE = 'echo $$ >> "$HOME/started"\n';

beforeEach(async () => {
  home = await realpath(await mkdtemp(join(tmpdir(), "rookery-ahead-")));
  cwd = join(home, "workspace");
  await mkdir(cwd);
  await writeFile(join(home, ".bash_profile"), PROFILE);
  registry = new ProcessRegistry();
});

afterEach(() => registry.dispose());

interface Said extends ProcessEnd {
  readonly text: string;
  readonly errorText: string;
}

const environment = (): Record<string, string> => ({ PATH: process.env.PATH ?? "", HOME: home });

async function run(command: string, changes: Partial<RunOptions> = {}): Promise<Said> {
  const env = environment();
  const running = registry.run({ ...scriptShell(command, env.PATH), cwd, env, input: "pipe", ...changes });
  const said = { stdout: "", stderr: "" };
  for await (const chunk of running.output) said[chunk.stream] += chunk.text;
  return { text: said.stdout, errorText: said.stderr, ...(await running.ended) };
}

/** The process ids of the shells that were started so far. */
async function started(): Promise<number[]> {
  const text = await readFile(join(home, "started"), "utf8").catch(() => "");
  return text.trim().split("\n").filter(Boolean).map(Number);
}

async function whenStarted(count: number): Promise<number> {
  await expect.poll(started, SOON).toHaveLength(count);
  return (await started()).at(-1) ?? 0;
}

/** Runs a command; then the id of the shell that waits for the next one. */
async function runAndWait(): Promise<number> {
  await run(":");
  return whenStarted(2);
}

test("a command is run by the shell that was started when the one before had ended (PT-091)", async () => {
  const waiting = await runAndWait();
  expect(await run("echo $$")).toMatchObject({ text: `${waiting}\n`, exitCode: 0 });
});

test("no shell is started before the first command, none for a program that takes no script", async () => {
  registry.renewShell();
  await run("", { file: "bash", args: ["-c", "true"], script: undefined });
  expect(await run('wc -l < "$HOME/started"')).toMatchObject({ text: "1\n" });
});

test.each([
  "echo $LINENO\necho $LINENO",
  "echo $0 $# $- $SECONDS; shopt login_shell",
  "echo [$BASH_EXECUTION_STRING]; compgen -v | grep -v BASH_LINENO",
  "echo one; syntax error (",
  "ls /proc/$$/fd | grep -c 19",
  "nothing-of-this-name\necho $?",
  "# a comment",
  "cat <<'EOF'\nit's $HOME `x` \"q\"\nEOF",
  "cat <<EOF\nan end that is missing",
  "exit 42",
  "echo 'a",
  "if",
  "(exit 5)",
  "set -euo pipefail; false; echo not reached",
  "kill -9 $$",
  "kill -TERM $$; echo not reached",
  "trap 'echo bye' EXIT; echo there",
  "exec printf '%s' gone",
  "shopt -s expand_aliases\nalias hi='echo hi'\nhi",
  "f() { return 4; }; f",
  "echo out; echo err >&2",
  "printf '%s\\n' 'ä漢🦔' | od -c",
  "return 3; echo after",
  "  echo leading blanks; echo 'trailing  '  ",
])("a command is answered as by `bash -lc COMMAND`, by a shell that waited too: %j (PT-091)", async (command) => {
  const plain = await run("", { ...shellCommand(command, environment().PATH), script: undefined });
  const started = await run(command);
  await whenStarted(3);
  const waited = await run(command);
  const facts = ({ durationMs, ...rest }: Said): unknown => rest;
  expect(facts(waited)).toEqual(facts(started));
  const errorText = plain.errorText.replaceAll("bash: -c: line", "bash: eval: line");
  expect(facts(waited)).toEqual(facts({ ...plain, errorText }));
});

test("a command may be longer than an argument can be, and is in no list of processes", async () => {
  expect(await run(`: ${"x".repeat(200_000)}\necho long`)).toMatchObject({ text: "long\n" });
  expect(await run("pkill -f a-word-of-this-command; echo $?")).toMatchObject({ text: "1\n" });
});

test("aliases and functions of the profile with the names of builtins are the command's", async () => {
  const names = ["read", "eval", "exec", "exit"];
  const functions = names.map((name) => `${name}() { echo my ${name}; }`);
  const aliases = names.map((name) => `alias ${name}='echo alias ${name}'`);
  await writeFile(
    join(home, ".bash_profile"),
    `${PROFILE}${[...functions, ...aliases].join("\n")}\nshopt -s expand_aliases\n`,
  );
  await runAndWait();
  expect(await run("eval ok")).toMatchObject({ text: "alias eval ok\n", exitCode: 0 });
});

test("its input is the command's", async () => {
  await runAndWait();
  const env = environment();
  const running = registry.run({ ...scriptShell("read a; cat; echo $a", env.PATH), cwd, env, input: "pipe" });
  const input = await running.started;
  input?.write("one\ntwo\n");
  input?.end();
  let text = "";
  for await (const chunk of running.output) text += chunk.text;
  expect(text).toBe("two\none\n");
});

test("what the profile prints and sets is there, as in a shell that did not wait", async () => {
  await writeFile(join(home, ".bash_profile"), `${PROFILE}echo hello; greet() { echo $A; }; A=1\n`);
  await runAndWait();
  expect(await run("greet")).toMatchObject({ text: "hello\n1\n" });
});

test.each([
  ["the profile was written", () => writeFile(join(home, ".bash_profile"), `${PROFILE}A=new\n`)],
  ["a file was put before it", () => writeFile(join(home, ".bashrc"), "A=new\n")],
  [
    "another directory has its place",
    async () => {
      await rename(cwd, `${cwd}-before`);
      await mkdir(cwd);
    },
  ],
])("it is not used, and ended, when %s", async (_, change) => {
  const waiting = await runAndWait();
  await change();
  const { text } = await run("echo $$; pwd -P");
  expect(text).toBe(`${(await started())[2]}\n${cwd}\n`);
  expect(text).not.toContain(`${waiting}\n`);
  await expect.poll(() => isRunning(waiting), SOON).toBe(false);
});

test.each<[string, Partial<RunOptions>]>([
  ["environment", { env: { PATH: process.env.PATH ?? "", HOME: "", OTHER: "1" } }],
  ["directory", { cwd: tmpdir() }],
  ["input", { input: "none" }],
])("it is not used, and ended, for a command with another %s", async (_, changes) => {
  const waiting = await runAndWait();
  const env = changes.env === undefined ? environment() : { ...changes.env, HOME: home };
  expect(await run("echo $$", { ...changes, env })).not.toMatchObject({ text: `${waiting}\n` });
  await expect.poll(() => isRunning(waiting), SOON).toBe(false);
});

test("it is not used when the file that BASH_ENV names has changed", async () => {
  const env = { ...environment(), BASH_ENV: join(home, "bash-env") };
  await writeFile(env.BASH_ENV, "A=old\n");
  await run(":", { env });
  await whenStarted(2);
  await writeFile(env.BASH_ENV, "A=new\n");
  expect(await run("echo $A", { env })).toMatchObject({ text: "new\n" });
});

test("one that has ended meanwhile is not used: the command starts its own", async () => {
  const waiting = await runAndWait();
  process.kill(waiting, "SIGKILL");
  await expect.poll(() => isRunning(waiting), SOON).toBe(false);
  expect(await run("echo here")).toMatchObject({ text: "here\n", exitCode: 0 });
});

test("a profile that exits ends the command with its code before it runs, each time", async () => {
  await writeFile(join(home, ".bash_profile"), `${PROFILE}exit 7\n`);
  expect(await run("echo ran")).toMatchObject({ text: "", exitCode: 7 });
  await whenStarted(2);
  expect(await run("echo ran")).toMatchObject({ text: "", exitCode: 7 });
});

test("a profile that is still being read is waited for", async () => {
  await writeFile(join(home, ".bash_profile"), `${PROFILE}until test -e "$HOME/go"; do sleep 0.02; done; A=read\n`);
  await writeFile(join(home, "go"), "");
  await run(":");
  await rm(join(home, "go"));
  const waiting = await whenStarted(2);
  const second = run("echo $$ $A");
  await writeFile(join(home, "go"), "");
  expect(await second).toMatchObject({ text: `${waiting} read\n` });
});

test("a command that starts as soon as another has ended does not get a shell from before that", async () => {
  await writeFile(join(home, ".bash_profile"), `${PROFILE}A=$(cat "$HOME/value" 2>/dev/null)\n`);
  const env = environment();
  const slow = 'until test -e "$HOME/go"; do sleep 0.02; done; echo new > "$HOME/value"';
  const running = registry.run({ ...scriptShell(slow, env.PATH), cwd, env, input: "pipe" });
  await whenStarted(1);
  await run(":");
  await whenStarted(3);
  await writeFile(join(home, "go"), "");
  await running.ended;
  expect(await run("echo $A")).toMatchObject({ text: "new\n" });
});

test("a profile that is being read is never cut off by a command that does not want the shell, or by the end of the session", async () => {
  const slow = 'touch "$HOME/lock"; sleep 0.3; rm "$HOME/lock"; echo $$ >> "$HOME/done"';
  await writeFile(join(home, ".bash_profile"), `${PROFILE}test -e "$HOME/slow" && { ${slow}; }\ntrue\n`);
  await writeFile(join(home, ".bash_logout"), 'echo logout >> "$HOME/done"\n');
  await runAndWait();
  await writeFile(join(home, "slow"), "");
  registry.renewShell();
  const first = await whenStarted(3);
  registry.renewShell();
  const second = await whenStarted(4);
  await registry.dispose();
  const done = (await readFile(join(home, "done"), "utf8")).trim().split("\n").map(Number);
  expect(done.sort()).toEqual([first, second].sort());
  expect(await Promise.all([first, second].map(isRunning))).toEqual([false, false]);
});

test.skipIf(process.platform !== "linux")("what a profile leaves behind keeps no descriptor and no time", async () => {
  await writeFile(
    join(home, ".bash_profile"),
    `${PROFILE}env -i /usr/bin/setsid /bin/sleep 30 >/dev/null 2>&1 </dev/null &\necho $! >> "$HOME/left"\n`,
  );
  const open = (): number => readdirSync("/proc/self/fd").length;
  const before = open();
  for (let n = 0; n < 30; n++) {
    await run(":", n % 2 === 0 ? { cwd: home } : {});
    await whenStarted(2 * n + 2);
  }
  await registry.dispose();
  expect(open()).toBe(before);
  for (const pid of (await readFile(join(home, "left"), "utf8")).trim().split("\n"))
    await endProcessTree({ pid: Number(pid) }, 0);
});

test("every end of a command makes it anew, since a command can change what a profile finds", async () => {
  await writeFile(join(home, ".bash_profile"), `${PROFILE}A=$(cat "$HOME/value" 2>/dev/null)\n`);
  const slow = run('until test -e "$HOME/go"; do sleep 0.02; done; echo new > "$HOME/value"');
  await whenStarted(1);
  await run(":");
  await whenStarted(3);
  await writeFile(join(home, "go"), "");
  await slow;
  const waiting = await whenStarted(4);
  expect(await run("echo $$ $A")).toMatchObject({ text: `${waiting} new\n` });
});

test("what a tool has changed is seen by the next command", async () => {
  await writeFile(join(home, ".bash_profile"), `${PROFILE}. "$HOME/more"\n`);
  await writeFile(join(home, "more"), "A=old\n");
  const waiting = await runAndWait();
  await writeFile(join(home, "more"), "A=new\n");
  registry.renewShell();
  const renewed = await whenStarted(3);
  expect(await run("echo $$ $A")).toMatchObject({ text: `${renewed} new\n` });
  expect(await isRunning(waiting)).toBe(false);
});

test("of several changes that follow each other one shell is left, and no two read the profile at once", async () => {
  const reading = 'mkdir "$HOME/reading" || echo both >> "$HOME/both"; sleep 0.05; rmdir "$HOME/reading"';
  await writeFile(join(home, ".bash_profile"), `${PROFILE}${reading}\n`);
  await runAndWait();
  for (let count = 2; count < 6; count++) {
    registry.renewShell();
    registry.renewShell();
    await whenStarted(count + 1);
  }
  const all = await started();
  await expect.poll(async () => (await Promise.all(all.map(isRunning))).filter(Boolean).length, SOON).toBe(1);
  expect(await readFile(join(home, "both"), "utf8").catch(() => "none")).toBe("none");
});

test("all that a shell which waited prints is read", async () => {
  await runAndWait();
  expect((await run("head -c 300000 /dev/zero | tr '\\0' x")).text).toHaveLength(300_000);
});

test("what the profile exports by itself does not hold the command", async () => {
  await writeFile(join(home, ".bash_profile"), `${PROFILE}set -a\n`);
  expect(await run(`: ${"x".repeat(200_000)}\n/bin/echo long`)).toMatchObject({ text: "long\n" });
});

test("none waits where the shell would make a path of BASH_ENV in its own way", async () => {
  const env = { ...environment(), BASH_ENV: "$HOME/bash-env" };
  await writeFile(join(home, "bash-env"), "A=old\n");
  await run(":", { env });
  await whileAnotherStarts();
  await writeFile(join(home, "bash-env"), "A=new\n");
  expect(await run("echo $A", { env })).toMatchObject({ text: "new\n" });
});

test("of commands that start together one has the shell that waits", async () => {
  const waiting = await runAndWait();
  const texts = (await Promise.all([1, 2, 3].map(() => run("echo $$")))).map(({ text }) => text);
  expect(texts.filter((text) => text === `${waiting}\n`)).toHaveLength(1);
  expect(new Set(texts).size).toBe(3);
});

test("a command can be stopped before a profile lets it run", async () => {
  await writeFile(join(home, ".bash_profile"), `${PROFILE}test -e "$HOME/hang" && sleep 60\n`);
  await run(`: > "$HOME/hang"`);
  const waiting = await whenStarted(2);
  const env = environment();
  const running = registry.run({ ...scriptShell("echo ran", env.PATH), cwd, env, input: "pipe" });
  await running.started;
  expect(await running.stop()).toMatchObject({ outcome: "aborted" });
  expect(await isRunning(waiting)).toBe(false);
});

test("after dispose none waits", async () => {
  const waiting = await runAndWait();
  await registry.dispose();
  expect(await isRunning(waiting)).toBe(false);
});

/** Long enough for a shell to have been started: in another session one was. */
async function whileAnotherStarts(): Promise<void> {
  const other = new ProcessRegistry();
  const { PATH = "" } = process.env;
  const env = { PATH, HOME: join(home, "other") };
  await mkdir(env.HOME);
  await writeFile(join(env.HOME, ".bash_profile"), 'echo $$ >> "$HOME/started"\n');
  await other.run({ ...scriptShell(":", env.PATH), cwd, env, input: "pipe" }).ended;
  const lines = async (): Promise<number> => (await readFile(join(env.HOME, "started"), "utf8")).split("\n").length - 1;
  await expect.poll(lines, SOON).toBe(2);
  await other.dispose();
}

test("none is started after dispose, not for a command that dispose ended either", async () => {
  const env = environment();
  const running = registry.run({ ...scriptShell("sleep 60", env.PATH), cwd, env, input: "pipe" });
  await running.started;
  await registry.dispose();
  await whileAnotherStarts();
  expect((await started()).length).toBeLessThanOrEqual(1);
});

test("none is started where commands are confined", async () => {
  const confined: string[] = [];
  registry = new ProcessRegistry({
    confine: (argv) => {
      confined.push(argv.join(" "));
      return argv;
    },
  });
  await run("true");
  await whileAnotherStarts();
  expect(await run("echo $$")).toMatchObject({ exitCode: 0 });
  expect(confined).toHaveLength(2);
  expect(await started()).toHaveLength(2);
});

test.skipIf(process.platform !== "linux")(
  "it carries a marker of its session, by which what leaves the group is found",
  async () => {
    const { text: first } = await run("echo $ROOKERY_PROCESS");
    await whenStarted(2);
    const env = environment();
    const command = "echo $ROOKERY_PROCESS > marker; setsid sh -c 'echo $$ > pid; exec sleep 60' & wait";
    const running = registry.run({ ...scriptShell(command, env.PATH), cwd, env, input: "pipe" });
    const stray = await readPid(join(cwd, "pid"));
    const [owner, own] = (await readFile(join(cwd, "marker"), "utf8")).trim().split("-");
    expect(first.trim().split("-")).toEqual([owner, expect.not.stringMatching(own ?? "")]);
    await running.stop();
    expect(await isRunning(stray)).toBe(false);
  },
);

test("SECONDS counts from the start of the command, not of the shell", async () => {
  await writeFile(join(home, ".bash_profile"), `${PROFILE}SECONDS=1000\n`);
  const waiting = await runAndWait();
  expect(await run("echo $$ $SECONDS")).toMatchObject({ text: `${waiting} 0\n` });
});

test("a profile that uses the descriptor of the script for itself is told of", async () => {
  await writeFile(join(home, ".bash_profile"), `${PROFILE}exec 19</dev/null\n`);
  const { exitCode, errorText } = await run("echo ran");
  expect(exitCode).toBe(1);
  expect(errorText).toContain("the command did not reach its shell: does the profile use descriptor 19?");
});

const startLike = (): PipedStart => {
  const { file, args } = scriptShell("", process.env.PATH);
  return { file, args, cwd, env: environment(), hasInput: true, takesScript: true };
};

test("one that nobody has needed for long is ended", async () => {
  const ahead = new ShellAhead(() => "marker-of-a-test", 500);
  ahead.prepare(startLike());
  const waiting = await whenStarted(1);
  await expect.poll(() => isRunning(waiting), SOON).toBe(false);
  expect(ahead.take(startLike())).toBeUndefined();
});

test("where none can be started there is none, and ending that is harmless", async () => {
  const ahead = new ShellAhead(() => "marker-of-a-test");
  for (const change of [{ file: "/nowhere/bash" }, { cwd: join(home, "missing") }]) {
    const start = { ...startLike(), ...change };
    ahead.prepare(start);
    await new Promise((done) => setTimeout(done, 20));
    expect(ahead.take(start)).toBeUndefined();
    await ahead.dispose();
  }
});

/** A program of its own that runs a command and does what `then` says once a shell waits. */
async function inProgram(then: string): Promise<{ readonly waiting: number; readonly exit: Promise<unknown> }> {
  const script = join(home, "program.mts");
  const imported = (name: string): string => JSON.stringify(resolve(import.meta.dirname, name));
  await writeFile(
    script,
    `import { endProcessTree } from "./end-process-tree.ts";
import { ProcessRegistry } from ${imported("process-registry.ts")};
import { scriptShell, shellCommand } from ${imported("shell.ts")};
const options = { cwd: ${JSON.stringify(cwd)}, env: ${JSON.stringify(environment())}, input: "pipe" };
const registry = new ProcessRegistry();
const running = registry.run({ ...scriptShell(":", process.env.PATH), ...options });
await running.ended;
${then}
`,
  );
  const child = spawn(process.execPath, ["--import", import.meta.resolve("tsx"), script], { stdio: "inherit" });
  const exit = once(child, "exit");
  const waiting = await whenStarted(2);
  if (then.includes("setInterval")) child.kill("SIGKILL");
  return { waiting, exit };
}

test("a program that does not dispose of its session ends although a shell waits, and the shell with it", async () => {
  const { waiting, exit } = await inProgram("await new Promise((done) => setTimeout(done, 100));");
  expect(await exit).toEqual([0, null]);
  await expect.poll(() => isRunning(waiting), SOON).toBe(false);
});

test("a program that does nothing but dispose of its session goes on after that", async () => {
  const { waiting, exit } = await inProgram(
    "await new Promise((done) => setTimeout(done, 100)); await registry.dispose(); process.exitCode = 5;",
  );
  expect(await exit).toEqual([5, null]);
  expect(await isRunning(waiting)).toBe(false);
});

test("a program waits for a command that a shell which waited runs", async () => {
  const { exit } = await inProgram(
    `await new Promise((done) => setTimeout(done, 100));
const next = registry.run({ ...scriptShell("sleep 0.2; exit 3", process.env.PATH), ...options });
process.exitCode = 4 + ((await next.ended).exitCode ?? 0);`,
  );
  expect(await exit).toEqual([7, null]);
});

test("a program that is killed leaves no shell that waits", async () => {
  const { waiting, exit } = await inProgram("setInterval(() => undefined, 1000);");
  expect(await exit).toEqual([null, "SIGKILL"]);
  await expect.poll(() => isRunning(waiting), SOON).toBe(false);
});
