import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";

const root = mkdtempSync(join(tmpdir(), "rookery-demo-test-"));
const dist = newDirectory();
const SESSION = join("chunks", "demo-files", "session.jsonl");

beforeAll(() => {
  execFileSync(process.execPath, [join(import.meta.dirname, "../../../scripts/build.mjs"), dist]);
});

afterAll(() => rmSync(root, { recursive: true }));

test("without a home the demo repairs its project, the tests say so, and nothing of the scratch directory is left", () => {
  const { env, scratch, run } = place();
  const { status, stdout, stderr } = run(["demo"], { ...env, HOME: undefined });
  expect(status).toBe(0);
  expect(stdout).toContain("The project's tests, run once more by the demo itself: 4 of 4 pass.\n");
  expect(stdout).toMatch(/^ {2}node \S+rookery.js run --model local\/qwen3 --base-url http:\/\/127.0.0.1:11434\/v1 /m);
  expect(stderr).toMatch(/^> The tests of this project fail\.[^\n]*\n● \w+ {2}Run the tests {2}node --test/);
  expect(stdout + stderr).not.toContain("\x1b");
  expect(readdirSync(scratch)).toEqual([]);
});

test("what the demo says of its record is true, and replay --check on a fresh copy of the project finds it again", () => {
  const { scratch, run } = place();
  const id = shownId(run(["demo"]).stdout);
  expect(run(["sessions", "show", id]).stdout).toContain("All four tests pass.");
  expect(run(["demo", "--unpack", "broken"]).stdout).toBe(
    `the project is in ${join(scratch, "broken")}; two of its tests fail\n`,
  );
  const check = run(["replay", "--check", id, "--workspace", "broken"]);
  expect(check.stdout).toMatch(/^(✓ .*\n){5}5 calls, as recorded; replayed as session-[-\d]+\w+\n$/);
  expect(check).toMatchObject({ status: 0, stderr: "" });
});

test("what the demo suggests to check it with passes, with nothing else, and so does that of what it made", () => {
  const { scratch, run } = place();
  const [, id = "", file = ""] =
    /sessions show (\S+)\n {2}in the file +(\S+)\n.* replay \1 --check\n/.exec(run(["demo"]).stdout) ?? [];
  const check = run(["replay", id, "--check"]);
  expect(check).toMatchObject({ status: 0, stderr: "" });
  const [, again = ""] = /replayed as (\S+)\n/.exec(check.stdout) ?? [];
  expect(run(["replay", again, "--check"]).status).toBe(0);
  expect(run(["replay", file, "--check"]).status).toBe(0);
  expect(readdirSync(scratch)).toEqual([]);
  expect(run(["sessions", "list"]).stdout).toMatch(/^(session-\S+ {2}\S+ {2}demo of recorded {2}The tests .*\n){4}$/);
});

test("the recording checked where its project is missing is exit code 1, with what differs", () => {
  const { run, scratch } = place();
  const id = shownId(run(["demo"]).stdout);
  mkdirSync(join(scratch, "empty"));
  const check = run(["replay", "--check", id, "--workspace", "empty"]);
  expect(check.status).toBe(1);
  expect(check.stdout).toMatch(/^✗ .*\n {4}stop_reason: completed -> failed\n {4}@@ /m);
  expect(check.stdout).toMatch(/\n5 calls, \d of them different; replayed as session-/);
});

test("without the repair in the recording the demo fails, and says what happened and where it is", () => {
  const broken = newDirectory();
  cpSync(dist, broken, { recursive: true });
  const records = readFileSync(join(dist, SESSION), "utf8").split("\n");
  const call = records.find((line) => line.includes('"tool_call"') && line.includes("old_string")) ?? "";
  const repair = /"tool_call_id":"(\w+)"/.exec(call)?.[1] ?? "";
  writeFileSync(join(broken, SESSION), records.filter((line) => !line.includes(`"${repair}"`)).join("\n"));
  const { scratch, run } = place(broken);
  const { status, stdout, stderr } = run(["demo"]);
  expect(repair).not.toBe("");
  expect(status).toBe(1);
  expect(stdout).toContain("2 of 4 pass.");
  const [left = ""] = readdirSync(scratch);
  expect(stderr).toContain(
    `rookery: the project was not repaired: its tests still fail (2 of 4); it is left in ${join(scratch, left)}\n`,
  );
  expect(stderr).toMatch(/^rookery: the call of \w+ ended completed when it was recorded, and was not made again$/m);
  expect(stderr).toContain("rookery: run 1: 2 recorded requests were not made\n");
});

test("a data directory that cannot be written is one line that says what to do, and nothing is left", () => {
  const { env, scratch, run } = place();
  const { status, stderr } = run(["demo"], { ...env, ROOKERY_HOME: join(dist, "rookery.js") });
  expect(status).toBe(2);
  expect(stderr).toMatch(/^rookery: cannot .*; .*--root or ROOKERY_HOME\n$/);
  expect(readdirSync(scratch)).toEqual([]);
});

test("a project that is there already is not unpacked over", () => {
  const { run } = place();
  expect(run(["demo", "--unpack", "here"]).status).toBe(0);
  const again = run(["demo", "--unpack", "here"]);
  expect(again.status).toBe(2);
  expect(again.stderr).toMatch(
    /^rookery: cannot put the demo's project into .*here: it is not empty; name a new directory where you may write\n$/,
  );
  expect(run(["demo", "--unpack", "no/such"]).stderr).toMatch(
    /^rookery: cannot put the demo's project into .*: ENOENT/,
  );
});

/** Runs the command that follows at a terminal of its own. */
const TERMINAL = ["script", "-qec"] as const;
const canMakeTerminals = spawnSync(TERMINAL[0], [TERMINAL[1], "true", "/dev/null"]).status === 0;

test.skipIf(!canMakeTerminals)(
  "at a terminal with NO_COLOR the demo shows everything without a control sequence",
  () => {
    const { env } = place();
    const shown = spawnSync(TERMINAL[0], [TERMINAL[1], `${join(dist, "rookery.js")} demo`, "/dev/null"], {
      encoding: "utf8",
      env: { ...env, TERM: "xterm", NO_COLOR: "1" },
    });
    expect(shown.status).toBe(0);
    expect(shown.stdout).toContain("Before I change anything");
    expect(shown.stdout).toContain("… ");
    expect(shown.stdout).not.toContain("\x1b");
  },
);

function shownId(stdout: string): string {
  return / sessions show (session-[-\w]+)\n/.exec(stdout)?.[1] ?? "";
}

/** A data directory and a scratch directory of their own, in which the command is run. */
function place(program = dist): {
  env: NodeJS.ProcessEnv;
  scratch: string;
  run(argv: string[], env?: NodeJS.ProcessEnv): { status: number | null; stdout: string; stderr: string };
} {
  const scratch = newDirectory();
  const { PATH, HOME } = process.env;
  const env = { PATH, HOME, TMPDIR: scratch, ROOKERY_HOME: newDirectory() };
  return {
    env,
    scratch,
    run: (argv, given = env) =>
      spawnSync(join(program, "rookery.js"), argv, { encoding: "utf8", env: given, cwd: scratch }),
  };
}

function newDirectory(): string {
  return mkdtempSync(join(root, "at-"));
}
