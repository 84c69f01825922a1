import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { assistantText, eventMessage, modelMessage, sessionMetaMessage, userText } from "../omnimessage/build.ts";
import { toJsonLine } from "../omnimessage/json-lines.ts";
import type { SessionMetaPayload } from "../omnimessage/message.ts";
import { exportSession } from "./export-session.ts";
import { type ImportedSession, type ImportOptions, importSession } from "./import-session.ts";
import { openPrivateFile } from "./private-files.ts";
import { readRecordLines } from "./record-lines.ts";
import { sessionPaths, tracesDir } from "./session-paths.ts";

const ID = "session-2026-01-02-03-04-05-0a1b2c3d";
let root: string;
let here: string;
let there: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "rookery-import-"));
  here = join(root, "here");
  there = join(root, "there");
});
afterEach(() => rmSync(root, { recursive: true }));

const meta = (fields: Partial<SessionMetaPayload> = {}): string =>
  toJsonLine({
    ...sessionMetaMessage({
      session_id: ID,
      provider: "custom",
      model_id: "m",
      model_context_window: "unknown",
      system_prompt: "",
      agent_state: "/state",
      workspace: "/app",
      ...fields,
    }),
    timestamp: "2026-01-02T03:04:05.000Z",
  });
const said = toJsonLine(userText("ünï 🪶 \u2028 \ud800"));
// As no writer of ours would put it, and yet a message.
const foreign = `  ${JSON.stringify({ payload: { type: "hologram", "10": 1, a: -0.0 }, type: "event_msg", timestamp: "2026-01-02T03:04:05Z" }, null, 1).replaceAll("\n", "")}\r\n`;
const first = meta() + said + foreign;
const second = meta({ carried: 1 }) + said;

test("what is exported and imported elsewhere is byte for byte the same, file by file, and its owner's alone", async () => {
  write(here, "001.jsonl", first);
  write(here, "002.jsonl", second);
  const { text, problems } = await exported();
  expect([text, problems]).toEqual([first + second, []]);
  expect(await imported(text)).toEqual({ sessionId: ID, contexts: 2, torn: false });
  expect(files(there)).toEqual({ "001.jsonl": first, "002.jsonl": second });
  const { traceDir } = sessionPaths(there, ID);
  expect(statSync(traceDir).mode & 0o777).toBe(0o700);
  expect(statSync(join(traceDir, "001.jsonl")).mode & 0o777).toBe(0o600);
});

test("a session of the same id is not touched; under a fresh id only the heads change", async () => {
  await imported(first + second);
  await expect(imported(meta() + said)).rejects.toMatchObject({
    code: "session-exists",
    message: `nothing was imported: session ${ID} is here already`,
    hint: "import it under a fresh id with --as-new, or remove the other one first",
  });
  const { sessionId } = await imported(first + second, { asNew: true });
  expect(sessionId).not.toBe(ID);
  const renamed = (text: string): string => text.replaceAll(ID, sessionId);
  expect(files(there, sessionId)).toEqual({ "001.jsonl": renamed(first), "002.jsonl": renamed(second) });
  expect(files(there)).toEqual({ "001.jsonl": first, "002.jsonl": second });
});

test("a torn last line is left out and told of, on the way out and on the way in", async () => {
  write(here, "001.jsonl", `${first}{"type":"mod`);
  write(here, "002.jsonl", second.trimEnd());
  const { text, problems } = await exported();
  expect(text).toBe(first + second);
  expect(problems).toEqual([
    `${join(sessionPaths(here, ID).traceDir, "001.jsonl")}: line 4 was cut off when it was written; it is left out`,
  ]);
  for (const cut of [1, 8, 30]) {
    rmSync(there, { recursive: true, force: true });
    expect(await imported((first + said).slice(0, -cut - 1))).toMatchObject({ torn: true });
    expect(files(there)).toEqual({ "001.jsonl": first });
  }
});

test("a damaged line inside is left out of an export, and one without its head is none", async () => {
  write(here, "001.jsonl", `${meta()}{"torn and gone on\n${said}`);
  expect(await exported()).toEqual({
    text: meta() + said,
    problems: [expect.stringMatching(/001\.jsonl: line 2 is not JSON: .*; it is left out$/)],
  });
  write(here, "001.jsonl", said);
  await expect(exported()).rejects.toMatchObject({
    code: "trace-corrupt",
    message: expect.stringMatching(/^cannot export .*001\.jsonl: line 1 stands where its session_meta should$/),
  });
});

const NEST = "[".repeat(200_000) + "]".repeat(200_000);
const DEEP = said.trimEnd().replace(/"text":"[^"]*"/, `"text":${NEST}`);
const partial = toJsonLine(modelMessage({ type: "partial_text", role: "assistant", event_type: "delta", text: "a" }));
const child = toJsonLine({ ...assistantText("a"), origin: [ID] });

test.each([
  ["nothing", "", "it holds no records"],
  ["blank lines", "\n \n", "it holds no records"],
  ["a text that is no trace", "# Readme\n", 'line 1 is not JSON: "# Readme"'],
  ["a line that is not JSON", `${meta()}{"a\n${said}`, 'line 2 is not JSON: "{\\"a"'],
  ["a line that is no message", `${meta()}[1]\n`, /^line 2 is not a message: /],
  [
    "a message without its parts",
    `${meta()}{"type":"model_msg","timestamp":"2026-01-02T03:04:05Z"}\n`,
    /^line 2 is not a message: .*payload/,
  ],
  ["a fragment", meta() + partial, "line 2 is a message that is streamed and never recorded"],
  ["a message of a child", meta() + child, "line 2 is a message that is streamed and never recorded"],
  ["records before their head", said + meta(), "line 1 is no session_meta, with which an export begins"],
  [
    "a second session",
    first + meta({ session_id: ID.replace("0a", "0b") }),
    /^line 4 begins another session, session-/,
  ],
  ["a path as an id", meta({ session_id: "../../../etc" }), /^line 1 names the session "\.\.\/\.\.\/\.\.\/etc", which/],
  [
    "a history that is not there",
    meta({ carried: 2 }) + said,
    "the last context lacks 1 of the records it carries over",
  ],
  [
    "a history that is cut off by the next context",
    meta({ carried: 2 }) + said + meta(),
    "line 3 comes before 1 of the records that the context before carries over",
  ],
  ["half a record carried over", meta({ carried: 1.5 }) + said, /^line 1 carries over 1\.5 records, which/],
  ["less than nothing carried over", meta({ carried: -1 }) + said, /^line 1 carries over -1 records, which/],
  [
    "a line nested too deep",
    `${meta()}${DEEP}\n${said}`,
    "line 2 is not a message: the message must not be nested more than 1000 levels deep",
  ],
  ["a bare value nested too deep", `${meta()}${NEST}\n`, "line 2 is not a message: the message must be an object"],
  [
    "several wrong lines",
    `${meta()}a\nb\nc\nd\n`,
    'line 2 is not JSON: "a"; line 3 is not JSON: "b"; line 4 is not JSON: "c"',
  ],
])("%s is refused with its line, and nothing is written", async (_what, text, problem) => {
  const error = await imported(text).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: "trace-corrupt" });
  const { message } = error as Error;
  expect(message).toMatch(/^nothing was imported: /);
  expect(message.slice("nothing was imported: ".length)).toEqual(
    typeof problem === "string" ? problem : expect.stringMatching(problem),
  );
  expect(existsSync(tracesDir(there)) ? readdirSync(tracesDir(there)) : []).toEqual([]);
});

test("bytes that are not UTF-8 are refused, at the end too", async () => {
  const bytes = Buffer.concat([Buffer.from(`${meta()}"`), Buffer.from([0xff]), Buffer.from('"\n')]);
  await expect(importSession(there, chunked(bytes))).rejects.toThrow("line 2 is not UTF-8");
});

test("an endless line is given up at its limit and the reading goes on behind it", async () => {
  async function* chunks(): AsyncGenerator<Uint8Array> {
    for (let i = 0; i < 100; i++) yield Buffer.alloc(1024, "a");
    yield Buffer.from(`\n${said}`);
  }
  const read: unknown[] = [];
  for await (const entry of readRecordLines(chunks(), 2048)) read.push(entry);
  expect(read).toMatchObject([{ line: 1, problem: "is longer than 2048 bytes", torn: false }, { line: 2 }]);
});

test("a reader that breaks off leaves nothing behind", async () => {
  async function* chunks(): AsyncGenerator<Uint8Array> {
    yield Buffer.from(first);
    throw new Error("the pipe broke");
  }
  await expect(importSession(there, chunks())).rejects.toThrow("the pipe broke");
  expect(readdirSync(tracesDir(there))).toEqual([]);
});

test("what a killed import left is removed by the next one, a day later", async () => {
  for (const name of [".import-old", ".import-young"])
    openPrivateFile(join(tracesDir(there), name, "001.jsonl"), "create");
  const yesterday = Date.now() / 1000 - 25 * 60 * 60;
  utimesSync(join(tracesDir(there), ".import-old"), yesterday, yesterday);
  await imported(first);
  expect(readdirSync(tracesDir(there)).sort()).toEqual([".import-young", ID]);
});

test("a data directory that cannot be written is told, with what to do", async () => {
  writeFileSync(join(root, "file"), "");
  await expect(importSession(join(root, "file"), chunked(Buffer.from(first)))).rejects.toMatchObject({
    code: "root-unwritable",
    hint: "make room and rights for it, or name another data directory with --root or ROOKERY_HOME",
  });
});

test("a session that somebody opened meanwhile, and recorded nothing in, is not replaced", async () => {
  const { traceDir } = sessionPaths(there, ID);
  async function* chunks(): AsyncGenerator<Uint8Array> {
    yield Buffer.from(first);
    openPrivateFile(join(traceDir, "lock"), "create");
  }
  await expect(importSession(there, chunks())).rejects.toMatchObject({ code: "session-exists" });
  expect(readdirSync(tracesDir(there))).toEqual([ID]);
});

test("events and what is not known are kept", async () => {
  const text = first + toJsonLine(eventMessage({ type: "abort", reason: "r" })) + foreign;
  await imported(text);
  expect(files(there)).toEqual({ "001.jsonl": text });
});

function write(agentDir: string, name: string, text: string): void {
  const { traceDir } = sessionPaths(agentDir, ID);
  rmSync(join(traceDir, name), { force: true });
  openPrivateFile(join(traceDir, name), "create");
  writeFileSync(join(traceDir, name), text);
}

async function exported(): Promise<{ text: string; problems: string[] }> {
  let text = "";
  const problems: string[] = [];
  for await (const entry of exportSession(here, ID)) {
    if ("line" in entry) text += entry.line;
    else problems.push(entry.problem);
  }
  return { text, problems };
}

function imported(text: string, options: ImportOptions = {}): Promise<ImportedSession> {
  return importSession(there, chunked(Buffer.from(text)), options);
}

/** In pieces of seven bytes, so that lines and characters are cut. */
async function* chunked(bytes: Buffer): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 7) yield bytes.subarray(at, at + 7);
}

function files(agentDir: string, id = ID): Record<string, string> {
  const { traceDir } = sessionPaths(agentDir, id);
  return Object.fromEntries(readdirSync(traceDir).map((name) => [name, readFileSync(join(traceDir, name), "utf8")]));
}
