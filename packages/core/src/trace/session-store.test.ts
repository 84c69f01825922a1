import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { eventMessage, sessionMetaMessage, userData, userText } from "../omnimessage/build.ts";
import type { OmniMessage } from "../omnimessage/message.ts";
import { acquireLock } from "./lock.ts";
import type { TraceEntry } from "./read-trace.ts";
import { sessionPaths } from "./session-paths.ts";
import { contextFiles, latestSessionId, listSessions, readSession, removeSession } from "./session-store.ts";
import { TraceWriter } from "./trace-writer.ts";

const A = "session-2026-03-04-05-06-07-aaaaaaaa";
const B = "session-2026-03-05-05-06-07-bbbbbbbb";
const C = "session-2026-04-01-00-00-00-cccccccc";

test("a list shows when, where and with which model a session ran, and what it began with", async () => {
  const agentDir = temporaryDirectory();
  write(
    agentDir,
    A,
    [meta(A, "/app"), userText("  fix\n\tthe   bug "), eventMessage({ type: "request_begin" })],
    "10:00",
  );
  writeFileSync(sessionPaths(agentDir, A).stateFile, JSON.stringify({ title: "Bug fix" }));
  expect(await listSessions(agentDir)).toEqual([
    {
      id: A,
      startedAt: "2026-03-04T05:06:07.000Z",
      updatedAt: "2026-05-01T10:00:00.000Z",
      workspace: "/app",
      provider: "custom",
      modelId: "local",
      title: "Bug fix",
      bytes: expect.any(Number),
      contexts: 1,
      firstText: "fix the bug",
      empty: false,
    },
  ]);
});

test("the session with the latest record stands first; a title or a lock written later changes nothing", async () => {
  const agentDir = temporaryDirectory();
  write(agentDir, A, [meta(A), userText("a")], "12:00");
  write(agentDir, B, [meta(B), userText("b")], "11:00");
  write(agentDir, C, [meta(C), userText("c")], "11:00");
  writeFileSync(sessionPaths(agentDir, B).stateFile, "{}");
  acquireLock(sessionPaths(agentDir, B).lockFile);
  expect((await listSessions(agentDir)).map(({ id }) => id)).toEqual([A, C, B]);
});

test("a first text is cut to 120 characters and never inside one", async () => {
  const agentDir = temporaryDirectory();
  write(agentDir, A, [meta(A), userText("🜁".repeat(121))]);
  write(agentDir, B, [meta(B), userText("🜁".repeat(120))]);
  const texts = new Map((await listSessions(agentDir)).map(({ id, firstText }) => [id, firstText]));
  expect(texts.get(A)).toBe(`${"🜁".repeat(119)}…`);
  expect(texts.get(B)).toBe("🜁".repeat(120));
});

test("what the harness says is not the first text", async () => {
  const agentDir = temporaryDirectory();
  write(agentDir, A, [meta(A), userText("context", "harness"), userText("hello")]);
  expect((await listSessions(agentDir))[0]?.firstText).toBe("hello");
});

test("a trace of 700 MB is listed from its head", async () => {
  const agentDir = temporaryDirectory();
  write(agentDir, A, [meta(A), userText("hello")]);
  truncateSync(fileOf(agentDir, A), 700_000_000);
  expect(await listSessions(agentDir)).toMatchObject([{ id: A, bytes: 700_000_000, firstText: "hello", empty: false }]);
});

test("input that begins with more than the head holds is not an empty session", async () => {
  const agentDir = temporaryDirectory();
  write(agentDir, A, [meta(A), userData("A".repeat(5_000_000), "image/png"), userText("what is this?")]);
  const [summary] = await listSessions(agentDir);
  expect(summary).toMatchObject({ empty: false, workspace: "/app" });
  expect(summary).not.toHaveProperty("firstText");
});

test("bytes are those of all contexts, and a replaced context makes no session empty", async () => {
  const agentDir = temporaryDirectory();
  write(agentDir, A, [meta(A)]);
  const writer = TraceWriter.open(sessionPaths(agentDir, A).traceDir);
  writer.startContext([meta(A)]);
  writer.close();
  const [summary] = await listSessions(agentDir);
  expect(summary).toMatchObject({ contexts: 2, empty: false });
  expect(summary?.bytes).toBe(2 * `${JSON.stringify(meta(A))}\n`.length);
});

test("a trace that holds only session_meta is marked empty", async () => {
  const agentDir = temporaryDirectory();
  write(agentDir, A, [meta(A)]);
  expect(await listSessions(agentDir)).toMatchObject([{ id: A, empty: true }]);
});

test("a trace with a damaged head is listed with what can be told", async () => {
  const agentDir = temporaryDirectory();
  mkdirSync(sessionPaths(agentDir, A).traceDir, { recursive: true });
  writeFileSync(fileOf(agentDir, A), `{"timestamp\n${JSON.stringify(userText("hello"))}\n`);
  writeFileSync(sessionPaths(agentDir, A).stateFile, "{");
  const [summary] = await listSessions(agentDir);
  expect(summary).toMatchObject({ id: A, firstText: "hello", empty: false });
  expect(summary).not.toHaveProperty("workspace");
  expect(summary).not.toHaveProperty("title");
});

test("a session that cannot be read is listed by its id and hides no other", async () => {
  const agentDir = temporaryDirectory();
  write(agentDir, A, [meta(A), userText("hello")]);
  mkdirSync(fileOf(agentDir, B), { recursive: true });
  mkdirSync(sessionPaths(agentDir, C).traceDir);
  symlinkSync("001.jsonl", fileOf(agentDir, C));
  expect((await listSessions(agentDir)).map(({ id, contexts }) => [id, contexts])).toEqual([
    [A, 1],
    [C, 0],
    [B, 0],
  ]);
  expect(await latestSessionId(agentDir, { workspace: "/app" })).toBe(A);
  await expect(readSession(agentDir, B).next()).rejects.toMatchObject({
    code: "trace-corrupt",
    message: `cannot read a trace at ${JSON.stringify(fileOf(agentDir, B))}: EISDIR`,
  });
});

test("a context counts once, by the name that its number has", async () => {
  const agentDir = temporaryDirectory();
  write(agentDir, A, [meta(A), userText("hello")]);
  for (const name of ["0001.jsonl", "99999999999999999999.jsonl"]) {
    writeFileSync(join(sessionPaths(agentDir, A).traceDir, name), "");
  }
  expect(await contextFiles(agentDir, A)).toEqual([fileOf(agentDir, A)]);
});

test("what is no session is not listed", async () => {
  const agentDir = temporaryDirectory();
  expect(await listSessions(agentDir)).toEqual([]);
  mkdirSync(join(agentDir, "traces", "notes"), { recursive: true });
  writeFileSync(join(agentDir, "traces", A), "a file");
  mkdirSync(sessionPaths(agentDir, B).traceDir);
  expect(await listSessions(agentDir)).toEqual([]);
});

test("the latest session is the one that was last written to, without empty ones", async () => {
  const agentDir = temporaryDirectory();
  expect(await latestSessionId(agentDir)).toBeUndefined();
  write(agentDir, A, [meta(A), userText("a")], "11:00");
  write(agentDir, B, [meta(B), userText("b")], "10:00");
  write(agentDir, C, [meta(C)], "12:00");
  expect(await latestSessionId(agentDir)).toBe(A);
});

test("the latest session of a workspace is found through a link to it", async () => {
  const agentDir = temporaryDirectory();
  const workspace = join(agentDir, "app");
  mkdirSync(workspace);
  symlinkSync(workspace, join(agentDir, "link"));
  write(agentDir, A, [meta(A, workspace), userText("a")], "10:00");
  write(agentDir, B, [meta(B, "/gone"), userText("b")], "11:00");
  expect(await latestSessionId(agentDir, { workspace: join(agentDir, "link") })).toBe(A);
  expect(await latestSessionId(agentDir, { workspace: "/gone" })).toBe(B);
  expect(await latestSessionId(agentDir, { workspace: "/other" })).toBeUndefined();
});

test("a session is read through all its contexts in order", async () => {
  const agentDir = temporaryDirectory();
  const records = [meta(A), userText("one")];
  write(agentDir, A, records);
  const carried = [meta(A), userText("two")];
  const writer = TraceWriter.open(sessionPaths(agentDir, A).traceDir);
  for (let context = 2; context <= 12; context += 1) writer.startContext(carried);
  writer.close();
  const files = await contextFiles(agentDir, A);
  expect(files).toHaveLength(12);
  expect(files.at(-1)).toBe(join(sessionPaths(agentDir, A).traceDir, "012.jsonl"));
  const entries: TraceEntry[] = [];
  for await (const entry of readSession(agentDir, A)) entries.push(entry);
  expect(entries).toEqual([...records, ...Array(11).fill(carried).flat()].map((message) => ({ message })));
});

test("an unknown session is refused with the nearest ids", async () => {
  const agentDir = temporaryDirectory();
  for (const id of [A, B, C, `${A.slice(0, -8)}dddddddd`]) write(agentDir, id, [meta(id), userText("hi")]);
  await expect(readSession(agentDir, "session-2026-03-04-05-06-07-aaaaaaab").next()).rejects.toThrow(
    expect.objectContaining({
      code: "session-not-found",
      message: 'no session is named "session-2026-03-04-05-06-07-aaaaaaab"',
      hint: `the nearest are ${A}, ${A.slice(0, -8)}dddddddd, ${B}`,
    }),
  );
  await expect(contextFiles(agentDir, "bbbb")).rejects.toThrow(
    expect.objectContaining({ hint: expect.stringContaining(`the nearest are ${B}`) }),
  );
});

test("where there is no session, the hint says so", async () => {
  await expect(contextFiles(temporaryDirectory(), A)).rejects.toThrow(
    expect.objectContaining({ code: "session-not-found", hint: "start a new one; this agent has none yet" }),
  );
});

test("a session that was opened and recorded nothing cannot be read, and can be removed", async () => {
  const agentDir = temporaryDirectory();
  acquireLock(sessionPaths(agentDir, A).lockFile).release();
  await expect(contextFiles(agentDir, A)).rejects.toThrow(
    expect.objectContaining({ code: "session-not-found", message: `session ${A} recorded nothing` }),
  );
  await removeSession(agentDir, A);
  expect(readdirSync(join(agentDir, "traces"))).toEqual([]);
});

test("removing a session removes its trace, its scratchpad with all archives and its undo, and nothing else (PT-062)", async () => {
  const agentDir = temporaryDirectory();
  for (const id of [A, B]) {
    write(agentDir, id, [meta(id), userText("hi")]);
    const { scratchpadDir, undoDir } = sessionPaths(agentDir, id);
    mkdirSync(join(scratchpadDir, "outputs"), { recursive: true });
    writeFileSync(join(scratchpadDir, "outputs", "call_1.txt"), "archived");
    mkdirSync(undoDir, { recursive: true });
    writeFileSync(join(undoDir, "1"), "kept");
  }
  const outside = join(agentDir, "workspace");
  mkdirSync(outside);
  symlinkSync(outside, join(sessionPaths(agentDir, A).scratchpadDir, "link"));
  writeFileSync(join(outside, "mine"), "mine");

  await removeSession(agentDir, A);
  for (const kind of ["traces", "scratchpad", "undo"]) expect(readdirSync(join(agentDir, kind))).toEqual([B]);
  expect(existsSync(join(sessionPaths(agentDir, B).scratchpadDir, "outputs", "call_1.txt"))).toBe(true);
  expect(existsSync(join(outside, "mine"))).toBe(true);
  expect((await listSessions(agentDir)).map(({ id }) => id)).toEqual([B]);
});

test("a session that a living process has open is not removed", async () => {
  const agentDir = temporaryDirectory();
  write(agentDir, A, [meta(A), userText("hi")]);
  const lock = acquireLock(sessionPaths(agentDir, A).lockFile);
  await expect(removeSession(agentDir, A)).rejects.toThrow(expect.objectContaining({ code: "session-locked" }));
  expect(existsSync(fileOf(agentDir, A))).toBe(true);
  lock.release();
  await removeSession(agentDir, A);
  expect(existsSync(fileOf(agentDir, A))).toBe(false);
});

test.each(["../x", "..", ".", "", `${A}/..`])("removing %j removes nothing", async (id) => {
  const agentDir = temporaryDirectory();
  write(agentDir, A, [meta(A), userText("hi")]);
  mkdirSync(join(agentDir, "x"));
  await expect(removeSession(agentDir, id)).rejects.toThrow(expect.objectContaining({ code: "session-not-found" }));
  expect(existsSync(fileOf(agentDir, A))).toBe(true);
  expect(readdirSync(agentDir).sort()).toEqual(["traces", "x"]);
});

function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "rookery-agent-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  return directory;
}

/** @param time - When the last record counts as written, on the first of May. */
function write(agentDir: string, id: string, records: readonly OmniMessage[], time = "09:00"): void {
  const writer = TraceWriter.open(sessionPaths(agentDir, id).traceDir);
  for (const message of records) writer.record(message);
  writer.close();
  const moment = new Date(`2026-05-01T${time}:00Z`);
  utimesSync(writer.file, moment, moment);
}

function fileOf(agentDir: string, id: string): string {
  return join(sessionPaths(agentDir, id).traceDir, "001.jsonl");
}

function meta(id: string, workspace = "/app"): OmniMessage {
  const message = sessionMetaMessage({
    session_id: id,
    provider: "custom",
    model_id: "local",
    model_context_window: "unknown",
    system_prompt: "",
    agent_state: "",
    workspace,
  });
  return { ...message, timestamp: "2026-03-04T05:06:07.000Z" };
}

test("a data directory that cannot be read is an error that names it, and no empty list", async () => {
  const file = join(temporaryDirectory(), "file");
  writeFileSync(file, "");
  await expect(listSessions(file)).rejects.toMatchObject({
    code: "root-unwritable",
    message: `cannot read ${join(file, "traces")}: ENOTDIR`,
  });
});
