import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeAll, expect, test } from "vitest";
import { type ChatReply, type ChatServer, startChatServer } from "./support/chat-server.ts";

const dist = mkdtempSync(join(tmpdir(), "rookery-dist-"));
const bin = join(dist, "rookery.js");
let server: ChatServer | undefined;

beforeAll(() => {
  execFileSync(process.execPath, [join(import.meta.dirname, "../../../scripts/build.mjs"), dist]);
});

afterEach(() => {
  server?.close();
  server = undefined;
});

test("the bundle answers --version by itself and prints nothing else", () => {
  const run = spawnSync(bin, ["--version"], { encoding: "utf8" });
  expect(run).toMatchObject({ status: 0, stdout: "0.1.0\n", stderr: "" });
});

test("the catalogue of models is loaded when it is asked for, and not to show the version or help", () => {
  const loaded = (...argv: string[]): string => {
    const coverage = mkdtempSync(join(tmpdir(), "rookery-coverage-"));
    spawnSync(bin, argv, { env: { ...process.env, NODE_V8_COVERAGE: coverage } });
    return readdirSync(coverage)
      .map((file) => readFileSync(join(coverage, file), "utf8"))
      .join();
  };
  expect(loaded("--version")).not.toContain("/chunks/");
  expect(loaded("run", "--help")).toContain("/chunks/start");
  expect(loaded("run", "--help")).not.toContain("/chunks/models-");
  expect(loaded("config", "model", "list", "--available")).toContain("/chunks/models-");
});

test("what V8 made of the program is kept at the first start and taken at the next, and a start without it is the same", () => {
  const cache = join(dist, "cache");
  rmSync(cache, { recursive: true, force: true });
  spawnSync(bin, ["--version"]);
  expect(existsSync(cache)).toBe(false);
  const help = () => ({ ...spawnSync(bin, ["run", "--help"], { encoding: "utf8" }), pid: 0 });
  const first = help();
  expect(first).toMatchObject({ status: 0, stdout: expect.stringContaining("Usage: rookery run"), stderr: "" });
  const [name = "", ...others] = readdirSync(cache);
  expect(others).toEqual([]);
  const file = join(cache, name);
  expect(help()).toEqual(first);
  writeFileSync(file, "spoiled");
  expect(help()).toEqual(first);
  expect(statSync(file).size).toBeGreaterThan(100_000);
});

test("a program that is not whole says so", () => {
  const [start, hidden] = [join(dist, "chunks", "start.js"), join(dist, "chunks", "hidden.js")];
  renameSync(start, hidden);
  try {
    const says = `rookery: the program is not whole: ${start} cannot be read; install it again\n`;
    expect(spawnSync(bin, ["help"], { encoding: "utf8" })).toMatchObject({ status: 1, stdout: "", stderr: says });
    writeFileSync(start, readFileSync(hidden, "utf8").slice(0, 50_000));
    expect(spawnSync(bin, ["help"], { encoding: "utf8" })).toMatchObject({ status: 1, stdout: "", stderr: says });
  } finally {
    renameSync(hidden, start);
  }
});

test("a prompt from standard input is sent once, and the answer is all of standard output", async () => {
  await serve(() => ({ text: ["All ", "right."] }));
  const run = await finished(start(["run", ...model()], { input: "body\n" }));
  expect(run).toEqual({ code: 0, stdout: "All right.\n", stderr: "" });
  expect(userTexts()).toEqual(["body"]);
});

test("with a prompt an idle pipe at standard input is not waited for", async () => {
  await serve(() => ({ text: ["hi"] }));
  const child = start(["run", ...model(), "say hi"], { input: undefined });
  expect(await finished(child)).toMatchObject({ code: 0, stdout: "hi\n" });
  expect(child.stdin?.writableEnded).toBe(false);
});

test("a loop that reads lines keeps those the program does not ask for", async () => {
  await serve(() => ({ text: ["ok"] }));
  const script = 'while read -r k; do "$0" "$@" "item $k"; done';
  await finished(start(["run", ...model()], { through: ["sh", "-c", script], input: "1\n2\n3\n" }));
  expect(userTexts()).toEqual(["item 1", "item 2", "item 3"]);
});

test("a tool call runs in the workspace and its result goes back to the model", async () => {
  const workspace = mkdtempSync(join(tmpdir(), "rookery-workspace-"));
  await serve((index) =>
    index === 0 ? { calls: [command("echo made > made.txt; cat made.txt")] } : { text: ["Done."] },
  );
  const run = await finished(start(["run", ...model(), "--workspace", workspace, "make it"]));
  expect(run).toMatchObject({ code: 0, stdout: "Done.\n" });
  expect(run.stderr).toMatch(/^● \w+ {2}echo made > made\.txt; cat made\.txt\n$/);
  expect(readFileSync(join(workspace, "made.txt"), "utf8")).toBe("made\n");
  expect(JSON.stringify(server?.requests[1]?.messages.at(-1))).toContain("made");
});

test("json is pure whatever Node warns of, and a refused key is exit code 3 that repeats no key", async () => {
  const key = "sk-canary-1111-2222";
  await serve(() => ({
    status: 401,
    body: JSON.stringify({ error: { message: `bad key ${key}`, code: "invalid_api_key" } }),
  }));
  const root = newRoot();
  const env = { LOCAL_API_KEY: key, NODE_OPTIONS: "--trace-warnings" };
  const run = await finished(start(["run", ...model(root), "--output", "json", "hi"], { env }));
  expect(run.code).toBe(3);
  expect(JSON.parse(run.stdout)).toMatchObject({ status: "auth", error: { code: "auth" } });
  expect(run.stdout + run.stderr + everythingIn(root)).not.toContain(key);
});

test("a call that nobody can approve is denied before anything of it runs (PT-173, PT-177, PT-184)", async () => {
  const workspace = mkdtempSync(join(tmpdir(), "rookery-workspace-"));
  await serve((index) => (index === 0 ? { calls: [command("touch made")] } : { text: ["I could not."] }));
  const run = await finished(
    start(["run", ...model(), "--workspace", workspace, "--approve", "always-ask", "--output", "json", "hi"]),
  );
  expect(run.code).toBe(1);
  expect(JSON.parse(run.stdout)).toMatchObject({
    status: "failed",
    error: { code: "approval-unanswered" },
    denied: [{ reason: "nobody can answer" }],
  });
  expect(readdirSync(workspace)).toEqual([]);
});

test("a run is recorded, and sessions list, show and remove work on it", async () => {
  await serve(() => ({ text: ["fine"] }));
  const root = newRoot();
  const { stdout } = await finished(start(["run", ...model(root), "--output", "json", "how are you"]));
  const { session_id, trace } = JSON.parse(stdout);
  expect(statSync(trace).mode & 0o777).toBe(0o600);
  const sessions = async (...argv: string[]): Promise<string> =>
    (await finished(start(["sessions", ...argv, "--root", root]))).stdout;
  expect(await sessions("list")).toBe(`${session_id}  ${process.cwd()}  local/m  how are you\n`);
  expect(await sessions("show", session_id)).toContain("\n> how are you\n\nfine\n");
  expect(await sessions("show", session_id, "--output", "stream-json")).toBe(readFileSync(trace, "utf8"));
  expect(await sessions("remove", session_id)).toBe(`removed ${session_id}\n`);
  expect(existsSync(trace)).toBe(false);
});

test("a reader who leaves after the first line ends the run without a word", async () => {
  await serve(() => ({ text: endlessLines() }));
  const child = start(["run", ...model(), "--output", "stream-json", "x"]);
  child.stdout?.once("data", () => child.stdout?.destroy());
  const { code, stderr } = await finished(child);
  expect({ code, stderr }).toEqual({ code: 141, stderr: "" });
});

test("a reader of text who leaves after the first reply ends the run before the next", async () => {
  await serve(() => ({ text: ["line\n"], calls: [command("true")] }));
  const child = start(["run", ...model(), "x"]);
  child.stdout?.once("data", () => child.stdout?.destroy());
  expect((await finished(child)).code).toBe(141);
});

test("standard output holds nothing of a reply that broke off and was asked for again", async () => {
  await serve((index) => (index === 0 ? { text: ["The ans"], breaksOff: true } : { text: ["The answer."] }));
  const run = await finished(start(["run", ...model(), "x"]));
  expect(run).toMatchObject({ code: 0, stdout: "The answer.\n" });
  expect(run.stderr).toMatch(/^↻ retrying in \d s \(attempt 2 of 6\): .*\n$/);
});

test("a refused model leads to name and address", async () => {
  await serve(() => ({ status: 404, body: JSON.stringify({ error: { message: "no such model" } }) }));
  const run = await finished(start(["run", ...model(), "x"]));
  expect(run.code).toBe(1);
  expect(run.stderr).toMatch(
    /^rookery: failed \(provider-refused\): .*; check the model's name and the address \(known names: .*\)\n$/,
  );
});

test.skipIf(!existsSync("/dev/full"))("the version on a full device is an error message and exit code 1", () => {
  const run = spawnSync("sh", ["-c", 'exec "$0" --version > /dev/full', bin], { encoding: "utf8" });
  expect(run).toMatchObject({
    status: 1,
    stderr: "rookery: cannot write to standard output: ENOSPC; make room, or send it elsewhere\n",
  });
});

test.skipIf(!existsSync("/dev/full"))("a full device is an error message and exit code 1", async () => {
  await serve(() => ({ text: ["hi"] }));
  const script = 'exec "$0" "$@" > /dev/full';
  const run = await finished(start(["run", ...model(), "x"], { through: ["sh", "-c", script] }));
  expect(run).toMatchObject({
    code: 1,
    stderr: "rookery: cannot write to standard output: ENOSPC; make room, or send it elsewhere\n",
  });
});

test.each([
  ["SIGINT", 130],
  ["SIGTERM", 143],
  ["SIGHUP", 129],
] as const)("%s while a command runs ends the command too, with exit code %d", async (signal, code) => {
  const workspace = mkdtempSync(join(tmpdir(), "rookery-workspace-"));
  await serve(() => ({ calls: [command("echo $$ > pid; exec sleep 300")] }));
  const child = start(["run", ...model(), "--workspace", workspace, "x"]);
  const pid = await pidIn(join(workspace, "pid"));
  child.kill(signal);
  expect((await finished(child)).code).toBe(code);
  expect(isAlive(pid)).toBe(false);
});

test("a second Ctrl-C leaves at once, and the command ends too", async () => {
  const workspace = mkdtempSync(join(tmpdir(), "rookery-workspace-"));
  await serve(() => ({ calls: [command("echo $$ > pid; trap '' TERM; while :; do sleep 1; done")] }));
  const child = start(["run", ...model(), "--workspace", workspace, "x"]);
  const pid = await pidIn(join(workspace, "pid"));
  const left = finished(child);
  const again = setInterval(() => child.kill("SIGINT"), 300);
  expect((await left).code).toBe(130);
  clearInterval(again);
  await gone(pid);
});

test("the time limit ends a silent model with exit code 124", async () => {
  await serve(() => ({ text: ["begun"], hangs: true }));
  const run = await finished(start(["run", ...model(), "--timeout", "0.5", "x"]));
  expect(run).toMatchObject({ code: 124, stdout: "begun\n" });
  expect(run.stderr).toMatch(/^rookery: timeout: .*time limit/);
});

test.each([
  ["a root that is a file", ["--root", bin], 2, /^rookery: .+; .+\n$/],
  [
    "a workspace that is missing",
    ["--workspace", "/no/such/directory"],
    2,
    /^rookery: the workspace "\/no\/such\/directory" does not exist; /,
  ],
  ["a protocol that is not built in", ["--client-type", "smoke"], 2, /^rookery: .*smoke.*; .+\n$/],
  [
    "an address that is none",
    ["--base-url", "nowhere"],
    2,
    /^rookery: the base URL must be an http or https address, got "nowhere"; /,
  ],
  ["a server elsewhere without a key", ["--base-url", "https://models.invalid/v1"], 3, /LOCAL_API_KEY/],
])("%s is one sentence and an exit code before any request", async (_what, flags, code, message) => {
  await serve(() => ({ text: ["hi"] }));
  const run = await finished(start(["run", ...model(), ...flags, "x"]));
  expect(run.stderr).toMatch(message);
  expect(run.stderr.split("\n")).toHaveLength(2);
  expect(run).toMatchObject({ code, stdout: "" });
  expect(server?.requests).toEqual([]);
});

test("a server that cannot be reached is tried again, with the reason and the wait on standard error", async () => {
  await serve(() => ({}));
  const argv = ["run", ...model(), "--timeout", "1", "x"];
  server?.close();
  const run = await finished(start(argv));
  expect(run).toMatchObject({ code: 124, stdout: "" });
  expect(run.stderr).toMatch(
    /^↻ retrying in \d s \(attempt 2 of 6\): .*ECONNREFUSED.*\nrookery: timeout: .*ECONNREFUSED.*\n$/,
  );
});

test("without any model the error names the ways to one", async () => {
  const run = await finished(start(["run", "--root", newRoot(), "x"]));
  expect(run.code).toBe(2);
  expect(run.stderr).toMatch(/^rookery: no model is chosen; set a .*export .* rookery config model add .* --base-url /);
});

test("tool call - runs every line in one environment", async () => {
  const cwd = mkdtempSync(join(tmpdir(), "rookery-workspace-"));
  const line = (cmd: string): string => `${JSON.stringify({ name: command("").name, arguments: { cmd } })}\n`;
  const input = `${line("echo one > a")}nonsense\n${line("cat a")}`;
  const argv = ["tool", "call", "-", "--root", newRoot(), "--output", "json"];
  const run = await finished(start(argv, { input, cwd }));
  const answers = run.stdout
    .trimEnd()
    .split("\n")
    .map((answer) => JSON.parse(answer));
  expect(answers).toMatchObject([
    { stop_reason: "completed" },
    { output: 'line 2 is not JSON: "nonsense"', stop_reason: "failed" },
    { output: expect.stringMatching(/^one\n/), stop_reason: "completed" },
  ]);
  expect(run.code).toBe(1);
});

/** Runs the command that follows at a terminal of its own. */
const TERMINAL = ["script", "-qec"] as const;
const canMakeTerminals = spawnSync(TERMINAL[0], [TERMINAL[1], "true", "/dev/null"]).status === 0;

test.skipIf(!canMakeTerminals)(
  "at a terminal no control sequence of the model's gets through, in the question either",
  async () => {
    const sequences = "\x1b]52;c;cHduZWQ=\x07 \x1b[2J\x1b[10A \x9b2J \u202e";
    await serve((index) =>
      index === 0 ? { text: [sequences], calls: [command(`echo '${sequences}'`)] } : { text: ["Done."] },
    );
    const argv = [bin, "run", ...model(), "--approve", "always-ask", "x"].map((word) => `'${word}'`).join(" ");
    const child = start([], { through: [...TERMINAL, argv, "/dev/null"], env: { TERM: "xterm", NO_COLOR: "" } });
    child.stdout?.on("data", () => {
      if (output(child).stdout.endsWith("n to deny: ")) child.stdin?.write("y\n");
    });
    const { code, stdout } = await finished(child);
    expect(code).toBe(0);
    expect(stdout).toContain("␛[2J");
    expect(stdout).toContain("Done.");
    expect(stdout.replaceAll(/\x1b\[(2|22)m/g, "")).not.toMatch(/[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202e]/);
  },
);

test.skipIf(!canMakeTerminals)("Ctrl-D at a question ends the run as unanswered, with exit code 1", async () => {
  await serve((index) => (index === 0 ? { calls: [command("true"), command("true")] } : { text: ["I could not."] }));
  const argv = [bin, "run", ...model(), "--approve", "always-ask", "x"].map((word) => `'${word}'`).join(" ");
  const child = start([], { through: [...TERMINAL, argv, "/dev/null"], env: { TERM: "xterm" } });
  child.stdout?.on("data", () => {
    if (output(child).stdout.endsWith("n to deny: ")) child.stdin?.write("\x04");
  });
  const { code, stdout } = await finished(child);
  expect(code).toBe(1);
  expect(stdout.split("Allow ")).toHaveLength(2);
  expect(stdout).toContain("failed (approval-unanswered)");
});

test.skipIf(!canMakeTerminals)("at a terminal Enter makes the next attempt, and Ctrl-C gives up with 130", async () => {
  await serve(() => ({ status: 503, body: '{"error":{"message":"busy"}}', headers: { "retry-after": "50" } }));
  const argv = [bin, "run", ...model(), "x"].map((word) => `'${word}'`).join(" ");
  const child = start([], { through: [...TERMINAL, argv, "/dev/null"], env: { TERM: "xterm" } });
  const waits = (): number => output(child).stdout.split("Ctrl-C to give up\r\n").length - 1;
  let hasGivenUp = false;
  child.stdout?.on("data", () => {
    // What is typed before the wait does not count; the terminal echoes, so that this is typed again until it does.
    if (waits() === 1) child.stdin?.write("\n");
    if (waits() < 2 || hasGivenUp) return;
    hasGivenUp = true;
    child.stdin?.write("\x03");
  });
  const { code, stdout } = await finished(child);
  expect(code).toBe(130);
  expect(stdout).toMatch(
    /↻ retrying in 50 s \(attempt 2 of 6\): the provider answered HTTP 503: busy — press Enter to try now, Ctrl-C to give up\r\n/,
  );
  expect(stdout).toContain("(attempt 3 of 6)");
  expect(stdout).toContain("aborted: the run was interrupted while a request was tried again; the last attempt: ");
  expect(server?.requests.length).toBeGreaterThan(1);
});

async function serve(reply: (index: number) => ChatReply): Promise<void> {
  server = await startChatServer(reply);
}

/** The flags that lead to the server, with a root of their own. */
function model(root: string = newRoot()): string[] {
  return ["--root", root, "--model", "local/m", "--base-url", server?.baseUrl ?? ""];
}

function newRoot(): string {
  return mkdtempSync(join(tmpdir(), "rookery-root-"));
}

function command(cmd: string): { name: string; args: Record<string, unknown> } {
  return { name: "exec_command", args: { cmd } };
}

function userTexts(): unknown[] {
  return (server?.requests ?? []).flatMap(({ messages }) =>
    messages.filter(({ role }) => role === "user").map(({ content }) => content),
  );
}

function* endlessLines(): Generator<string> {
  for (let i = 0; ; i++) yield `line ${i}\n`;
}

const outputs = new WeakMap<ChildProcess, { stdout: string; stderr: string }>();

/** @param options.input - All of standard input; `undefined`: it stays open. */
function start(
  argv: readonly string[],
  options: { input?: string | undefined; env?: NodeJS.ProcessEnv; cwd?: string; through?: string[] } = { input: "" },
): ChildProcess {
  const [program = "", ...args] = [...(options.through ?? []), ...(argv.length > 0 ? [bin] : []), ...argv];
  const { PATH, HOME } = process.env;
  const child = spawn(program, args, { cwd: options.cwd, env: { PATH, HOME, ...options.env } });
  const texts = { stdout: "", stderr: "" };
  child.stdout.on("data", (chunk) => {
    texts.stdout += chunk;
  });
  child.stderr.on("data", (chunk) => {
    texts.stderr += chunk;
  });
  outputs.set(child, texts);
  if (options.input !== undefined) child.stdin.end(options.input);
  return child;
}

function output(child: ChildProcess): { stdout: string; stderr: string } {
  return outputs.get(child) ?? { stdout: "", stderr: "" };
}

async function finished(child: ChildProcess): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  return { code, ...output(child) };
}

async function pidIn(file: string): Promise<number> {
  for (;;) {
    const text = existsSync(file) ? readFileSync(file, "utf8") : "";
    if (text.endsWith("\n")) return Number(text);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

async function gone(pid: number): Promise<void> {
  while (isAlive(pid)) await new Promise((resolve) => setTimeout(resolve, 10));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

function everythingIn(directory: string): string {
  return readdirSync(directory, { recursive: true, encoding: "utf8" })
    .map((name) => join(directory, name))
    .filter((file) => statSync(file).isFile())
    .map((file) => readFileSync(file, "utf8"))
    .join("\n");
}
