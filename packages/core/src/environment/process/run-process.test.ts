import { mkdtemp, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { isRunning, readPid } from "../../../test/support/processes.ts";
import { endProcessTree } from "./end-process-tree.ts";
import { createMarker } from "./process-marker.ts";
import { type ProcessEnd, type ProcessOptions, type RunningProcess, runProcess } from "./run-process.ts";

const onLinux = test.skipIf(process.platform !== "linux");

let cwd: string;
const marker: string = createMarker();

beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), "rookery-process-"));
});

afterEach(async () => {
  await endProcessTree({ marker }, 0);
});

/** Runs a script; the shell replaces nothing and adds nothing. */
function start(script: string, options: Partial<ProcessOptions> = {}): RunningProcess {
  const env = { PATH: process.env.PATH ?? "" };
  return runProcess({ file: "bash", args: ["-c", script], cwd, env, marker, ...options });
}

interface Report extends ProcessEnd {
  readonly stdout: string;
  readonly stderr: string;
}

async function toEnd(running: RunningProcess): Promise<Report> {
  const text = { stdout: "", stderr: "" };
  for await (const chunk of running.output) text[chunk.stream] += chunk.text;
  return { ...text, ...(await running.ended) };
}

test("chunks are tagged with their stream, and the end tells the exit code", async () => {
  const report = await toEnd(start("echo out; echo err >&2; exit 3"));
  expect(report).toMatchObject({ stdout: "out\n", stderr: "err\n", outcome: "exited", exitCode: 3, signal: null });
  expect(report.durationMs).toBeGreaterThanOrEqual(0);
});

test("death by signal is told by its name", async () => {
  const report = await toEnd(start("echo half-way; kill -9 $$"));
  expect(report).toMatchObject({ stdout: "half-way\n", outcome: "exited", exitCode: null, signal: "SIGKILL" });
});

test("characters written in two pieces arrive whole on both streams", async () => {
  const script = [
    "printf 'no. \\xe6'; printf 'w \\xf0\\x9f\\xa6' >&2; sleep 0.2",
    "printf '\\xbc\\xa2 fin'; printf '\\x94 warn' >&2",
  ];
  expect(await toEnd(start(script.join("; ")))).toMatchObject({ stdout: "no. 漢 fin", stderr: "w 🦔 warn" });
});

test("the process leads a group of its own, without input and terminal (PE-027)", async () => {
  const script = "cat; echo $$; ps -o pgid= -p $$ | tr -d ' '; (: < /dev/tty) 2>/dev/null || echo no terminal";
  expect((await toEnd(start(script))).stdout).toMatch(/^(\d+)\n\1\nno terminal\n$/);
});

test.each([
  ["silent", "sleep 60 & echo $! > pid; echo done"],
  ["chatty", "(while :; do echo tick; sleep 0.02; done) & echo $! > pid; echo done"],
  ["flooding", "yes & echo $! > pid; echo done"],
  ["deaf", "nohup sleep 60 >/dev/null 2>&1 & echo $! > pid; echo done"],
])(
  "a %s background child holds neither the pipe nor the call, and is gone afterwards (PE-032, PE-033)",
  async (_, script) => {
    const report = await toEnd(start(script));
    expect(report).toMatchObject({ outcome: "exited", exitCode: 0 });
    expect(report.stdout).toContain("done\n");
    expect(await isRunning(await readPid(join(cwd, "pid")))).toBe(false);
  },
);

onLinux("a child that left the group survives a process that ends by itself, without holding the call", async () => {
  const report = await toEnd(
    start("setsid sh -c 'echo $$ > pid; exec sleep 60' & until test -s pid; do sleep 0.01; done; echo done"),
  );
  expect(report).toMatchObject({ stdout: "done\n", outcome: "exited" });
  expect(await isRunning(await readPid(join(cwd, "pid")))).toBe(true);
});

test("what lies in the pipe when the process exits is read, also by a reader that comes late", async () => {
  const running = start("head -c 150000 /dev/zero | tr '\\0' x; echo; echo end");
  await running.ended;
  const { stdout } = await toEnd(running);
  expect(stdout.length).toBe(150_005);
  expect(stdout.endsWith("x\nend\n")).toBe(true);
});

test("a process whose output nobody reads has to wait, and loses nothing by it", async () => {
  const running = start("head -c 8000000 /dev/zero | tr '\\0' x; echo written > written");
  const first = await running.output.next();
  await pause(300);
  await expect(readFile(join(cwd, "written"))).rejects.toThrow("ENOENT");
  const rest = await toEnd(running);
  expect((first.value?.text.length ?? 0) + rest.stdout.length).toBe(8_000_000);
  expect(await readFile(join(cwd, "written"), "utf8")).toBe("written\n");
});

test("a reader that leaves does not hold the process", async () => {
  const running = start("head -c 8000000 /dev/zero; exit 4");
  for await (const _ of running.output) break;
  expect(await running.ended).toMatchObject({ outcome: "exited", exitCode: 4 });
});

test("an abort sends TERM to the whole group, and what they still print is read (PE-028)", async () => {
  const abort = new AbortController();
  const child = "trap 'echo child; exit' TERM; echo $$ > pid; while :; do sleep 0.01; done";
  const running = start(`trap 'wait; echo parent; exit 9' TERM; bash -c "${child.replaceAll("$", "\\$")}" & wait`, {
    signal: abort.signal,
  });
  await readPid(join(cwd, "pid"));
  abort.abort();
  const report = await toEnd(running);
  expect(report).toMatchObject({ outcome: "aborted", exitCode: 9, stdout: "child\nparent\n" });
});

test("what needs a second to clean up after TERM gets it, undisturbed (PE-029)", async () => {
  const running = start("trap 'sleep 1 && echo clean > clean; exit' TERM; echo $$ > pid; while :; do sleep 0.01; done");
  await readPid(join(cwd, "pid"));
  expect(await running.stop()).toMatchObject({ outcome: "aborted", exitCode: 0 });
  expect(await readFile(join(cwd, "clean"), "utf8")).toBe("clean\n");
});

test("a grandchild that ignores TERM is killed after two seconds (PE-030)", async () => {
  await writeFile(join(cwd, "stubborn.sh"), "trap '' TERM\necho $$ > pid\nexec sleep 300\n");
  const running = start("bash -c 'sh ./stubborn.sh | cat'; echo after");
  const pid = await readPid(join(cwd, "pid"));
  const end = await running.stop();
  expect(end.outcome).toBe("aborted");
  expect(end.durationMs).toBeGreaterThanOrEqual(2000);
  expect(await isRunning(pid)).toBe(false);
});

onLinux.each([
  ["setsid", "setsid bash -c 'echo $$ > pid; exec sleep 60' & sleep 60"],
  ["a double fork", "(setsid bash -c '(echo $BASHPID > pid; exec sleep 60) &' &); sleep 60"],
])("a descendant that left the group by %s is ended by an abort", async (_, script) => {
  const running = start(script);
  const pid = await readPid(join(cwd, "pid"));
  await running.stop();
  expect(await isRunning(pid)).toBe(false);
});

test("the deadline kills at once, without TERM (PE-031)", async () => {
  const script = "trap 'echo TERM > got-term' TERM; echo $$ > pid; while :; do sleep 0.01; done";
  const report = await toEnd(start(script, { deadlineMs: 500 }));
  expect(report).toMatchObject({ outcome: "timed-out", exitCode: null, signal: "SIGKILL" });
  await expect(readFile(join(cwd, "got-term"))).rejects.toThrow("ENOENT");
});

test("an abort whose reason is a time-out counts as the deadline", async () => {
  const abort = new AbortController();
  const script = "trap 'echo TERM > got-term' TERM; echo $$ > pid; while :; do sleep 0.01; done";
  const running = start(script, { signal: abort.signal });
  await readPid(join(cwd, "pid"));
  abort.abort(new DOMException("too late", "TimeoutError"));
  expect(await running.ended).toMatchObject({ outcome: "timed-out", signal: "SIGKILL" });
  await expect(readFile(join(cwd, "got-term"))).rejects.toThrow("ENOENT");
});

onLinux("a descendant that left the group is ended at the deadline", async () => {
  const abort = new AbortController();
  const running = start("setsid sleep 60 & echo $! > pid; wait", { signal: abort.signal });
  const pid = await readPid(join(cwd, "pid"));
  abort.abort(new DOMException("too late", "TimeoutError"));
  await running.ended;
  expect(await isRunning(pid)).toBe(false);
});

test("a deadline longer than a timer can be is none that has passed", async () => {
  expect(await toEnd(start("echo ran", { deadlineMs: 1e12 }))).toMatchObject({ outcome: "exited", stdout: "ran\n" });
});

test("a signal that has fired before the start starts nothing", async () => {
  const report = await toEnd(start("echo ran > ran", { signal: AbortSignal.abort() }));
  expect(report).toMatchObject({ outcome: "aborted", exitCode: null, signal: null });
  await expect(readFile(join(cwd, "ran"))).rejects.toThrow("ENOENT");
});

test("an abort after the end changes nothing", async () => {
  const running = start("exit 5");
  await toEnd(running);
  expect(await running.stop()).toMatchObject({ outcome: "exited", exitCode: 5 });
});

test("a missing directory is named as such, not as a missing program", async () => {
  const gone = join(cwd, "gone");
  expect(await toEnd(start("echo ran", { cwd: gone }))).toMatchObject({
    outcome: "failed-to-start",
    error: `cannot run in ${gone}: the directory does not exist; create it or name another`,
  });
});

test("a file as directory is named as such", async () => {
  await writeFile(join(cwd, "afile"), "x");
  for (const path of [join(cwd, "afile"), join(cwd, "afile", "below")]) {
    const { error } = await toEnd(start("echo ran", { cwd: path }));
    expect(error).toBe(`cannot run in ${path}: it is not a directory; name one that is`);
  }
});

test("a missing program is named", async () => {
  const report = await toEnd(start("", { file: "no-such-program", env: { PATH: "/usr/bin:/bin" } }));
  expect(report).toMatchObject({
    outcome: "failed-to-start",
    exitCode: null,
    error: "cannot start no-such-program: there is no such program",
  });
});

test("a command line that is too long is a failure with a way out", async () => {
  const { error } = await toEnd(start(`: ${"x".repeat(8_000_000)}`));
  expect(error).toBe("cannot start bash: arguments and environment are too long; pass long text in a file");
});

test("vault values are replaced across chunk borders, on both streams and in errors", async () => {
  const vault = { TOKEN: "s3cr3t-token" };
  const report = await toEnd(start("printf s3cr3; sleep 0.1; echo t-token; echo s3cr3t-token >&2", { vault }));
  expect(report).toMatchObject({ stdout: "[vault:TOKEN]\n", stderr: "[vault:TOKEN]\n" });
  const { error } = await toEnd(start("", { file: "/no/s3cr3t-token", vault }));
  expect(error).toBe("cannot start /no/[vault:TOKEN]: there is no such program");
});

test("the beginning of a vault value at the very end is not lost", async () => {
  expect(await toEnd(start("printf s3cr", { vault: { TOKEN: "s3cr3t-token" } }))).toMatchObject({ stdout: "s3cr" });
});

test("the environment is the given one and the marker", async () => {
  const { stdout } = await toEnd(start("env", { env: { PATH: process.env.PATH ?? "", ONLY: "this" } }));
  const names = stdout.split("\n").filter((line) => !/^(_|PWD|SHLVL|PATH|OLDPWD)?(=|$)/.test(line));
  expect(names.sort()).toEqual(["ONLY=this", `ROOKERY_PROCESS=${marker}`]);
});
