import { readdirSync, readFileSync } from "node:fs";
import { Writable } from "node:stream";
import { BUILTIN_TOOL_FACTORIES, modelMessage } from "@rookery/core";
import { expect, test } from "vitest";
import { fakeAgent, outcome } from "../test/support/fake-agent.ts";
import { fakeIo } from "../test/support/fake-io.ts";
import { rookery } from "./rookery.ts";
import { VERSION } from "./version.ts";

test("help behind a word and the word before --help are one", async () => {
  const [asked, flagged] = [fakeIo(), fakeIo()];
  expect(await rookery(["help", "config", "model", "add"], asked)).toBe(0);
  expect(await rookery(["config", "model", "add", "--help"], flagged)).toBe(0);
  expect(asked.out()).toBe(flagged.out());
  expect(await rookery(["help", "rnu"], fakeIo())).toBe(2);
});

test("without arguments it tells how to run a first task", async () => {
  const io = fakeIo();
  expect(await rookery([], io)).toBe(0);
  expect(io.out()).toContain("rookery config model add");
  expect(io.out()).toContain("OPENAI_API_KEY=");
  expect(io.out()).toContain("--base-url http://127.0.0.1");
});

test("--version is the plain version; --help, -h and help list every command", async () => {
  const version = fakeIo();
  expect(await rookery(["--version"], version)).toBe(0);
  expect(version.out()).toBe(`${VERSION}\n`);
  for (const word of ["--help", "-h", "help"]) {
    const help = fakeIo();
    expect(await rookery([word], help)).toBe(0);
    for (const name of ["demo", "run", "tool", "sessions", "replay", "config"])
      expect(help.out()).toContain(`\n  ${name} `);
  }
});

test("each command explains itself, on standard output", async () => {
  for (const argv of [["run"], ["tool"], ["tool", "call"], ["sessions", "show"], ["config", "model", "add"]]) {
    const io = fakeIo();
    expect(await rookery([...argv, "--help"], io)).toBe(0);
    expect(io.out()).toMatch(new RegExp(`^Usage: rookery ${argv.join(" ")} `));
    expect(io.err()).toBe("");
  }
});

test.each([
  [["rnu"], 'unknown command "rnu"; use one of demo, run, tool, sessions, replay, doctor, config'],
  [["--verbose"], 'unknown option "--verbose"; use one of --help, --version'],
  [["run", "x", "--modle", "a/b"], "unknown option '--modle'; did you mean --model?"],
  [["run", "x", "--sandbocks"], "unknown option '--sandbocks'; did you mean --sandbox?"],
  [["run", "x", "--sandbox", "full"], '--sandbox does not know "full"; use one of off, read-only, workspace-write'],
  [["tool", "list", "--sandbox-network", "no"], '--sandbox-network does not know "no"; use one of on, off'],
  [
    ["run", "two", "words"],
    /^too many arguments for 'run'\. Expected 1 argument but got 2; put a text with blanks into quotes$/,
  ],
  [["run", "--- title"], "unknown option '--- title'; write -- before a text that begins with -"],
  [["run", "--model"], "option '--model <PROVIDER/MODEL_ID>' argument missing; see --help"],
  [["tool", "lst"], "unknown command 'lst'; did you mean list?"],
  [["sessions", "show"], "missing required argument 'ID'; rookery sessions list shows the ids"],
])("%j is a usage error of one line", async (argv, message) => {
  const io = fakeIo();
  expect(await rookery(argv, io)).toBe(2);
  const [line, ...rest] = io.err().split("\n");
  expect(rest).toEqual([""]);
  expect(line?.replace(/^rookery: /, "")).toEqual(
    typeof message === "string" ? message : expect.stringMatching(message),
  );
  expect(io.out()).toBe("");
});

test("a command that needs a subcommand shows them", async () => {
  const io = fakeIo();
  expect(await rookery(["config", "model"], io)).toBe(2);
  expect(io.err()).toMatch(/^Usage: rookery config model /);
  expect(io.err()).toMatch(/rookery: config model needs a subcommand; take one of those above\n$/);
});

test.each([["--output", "json"], ["--output=json"]])(
  "with %s a usage error is an object on standard output",
  async (...flags) => {
    const io = fakeIo();
    expect(await rookery(["run", "x", "--modle", ...flags], io)).toBe(2);
    expect(JSON.parse(io.out())).toEqual({
      status: "failed",
      error: { code: "usage", message: "unknown option '--modle'", hint: "did you mean --model?" },
    });
    expect(io.err()).toBe("");
  },
);

test("words behind -- are no flags", async () => {
  const io = fakeIo();
  expect(await rookery(["run", "--no-such", "--", "--output", "json"], io)).toBe(2);
  expect(io.out()).toBe("");
});

test("an unexpected error is one line without a stack trace", async () => {
  const io = fakeIo();
  const { createAgent } = fakeAgent({ failure: new TypeError("boom\n\x1b[2J") });
  expect(await rookery(["run", "x"], io, { createAgent })).toBe(1);
  expect(io.err()).toBe("rookery: unexpected error: boom ␛[2J\n");
});

test("a reader who leaves ends the run quietly, with the exit code of a closed pipe", async () => {
  const io = fakeIo();
  let aborted = false;
  const { createAgent } = fakeAgent({
    async *run(_input, { signal }) {
      while (!signal?.aborted) {
        yield modelMessage({ type: "partial_text", role: "assistant", event_type: "delta", text: "more\n" });
        await new Promise((resolve) => setImmediate(resolve));
      }
      aborted = true;
      return outcome({ status: "aborted" });
    },
  });
  expect(
    await rookery(["run", "x", "--output", "stream-json"], { ...io, stdout: failing("EPIPE") }, { createAgent }),
  ).toBe(141);
  expect(aborted).toBe(true);
  expect(io.err()).toBe("");
});

test("a full disk is told, and is a failure", async () => {
  const io = fakeIo();
  expect(await rookery(["--help"], { ...io, stdout: failing("ENOSPC") })).toBe(1);
  expect(io.err()).toBe("rookery: cannot write to standard output: ENOSPC; make room, or send it elsewhere\n");
});

test("no source of the command line names a tool (headings come from schemas)", () => {
  const names = Object.keys(BUILTIN_TOOL_FACTORIES);
  expect(names.length).toBeGreaterThan(0);
  const sources = readdirSync(import.meta.dirname, { recursive: true, encoding: "utf8" }).filter((file) =>
    /(?<!\.test)\.ts$/.test(file),
  );
  for (const file of sources) {
    const text = readFileSync(`${import.meta.dirname}/${file}`, "utf8");
    expect(names.filter((name) => text.includes(name))).toEqual([]);
  }
});

function failing(code: string): Writable {
  return new Writable({ write: (_chunk, _encoding, done) => done(Object.assign(new Error(code), { code })) });
}
