import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { becomeOrdinaryUser } from "../../test/support/become-ordinary-user.ts";
import {
  assistantText,
  eventMessage,
  modelMessage,
  sessionMetaMessage,
  userText,
  withOrigin,
} from "../omnimessage/build.ts";
import type { OmniMessage } from "../omnimessage/message.ts";
import { readTrace, type TraceEntry } from "./read-trace.ts";
import { TraceWriter } from "./trace-writer.ts";

test("nothing is created before the first record", () => {
  const directory = traceDir();
  TraceWriter.open(directory).close();
  expect(readdirSync(dirname(directory))).toEqual([]);
});

test("complete messages and events are recorded; fragments, progress and children's messages are not", async () => {
  const directory = traceDir();
  const writer = openWriter(directory);
  const recorded = [userText("hi"), eventMessage({ type: "request_begin" }), assistantText("ho")];
  for (const message of recorded) writer.record(message);
  writer.record(modelMessage({ type: "partial_text", role: "assistant", event_type: "delta", text: "h" }));
  writer.record(eventMessage({ type: "tool_progress", tool_call_id: "1" }));
  writer.record(withOrigin(assistantText("from a child"), "session-x"));
  expect(await messagesIn(writer.file)).toEqual(recorded);
});

test("a record is in the file when record returns", () => {
  const writer = openWriter(traceDir());
  const message = userText("hi");
  writer.record(message);
  expect(readFileSync(writer.file, "utf8")).toBe(`${JSON.stringify(message)}\n`);
});

test.each(["000", "022", "077", "277"])("directory and files are the owner's alone with umask %s", (mask) => {
  const directory = traceDir();
  const before = process.umask(Number.parseInt(mask, 8));
  onTestFinished(() => void process.umask(before));
  const writer = openWriter(directory);
  writer.record(userText("hi"));
  writer.startContext([meta()]);
  expect(readdirSync(directory).map((name) => mode(join(directory, name)))).toEqual([0o600, 0o600]);
  expect(mode(directory)).toBe(0o700);
});

test("records of 1 MB stay whole, one after the other", async () => {
  const writer = openWriter(traceDir());
  const recorded = ["x", "é", "🜁"].map((sign) => userText(sign.repeat(1_048_576 / Buffer.byteLength(sign))));
  for (const message of recorded) writer.record(message);
  expect(await messagesIn(writer.file)).toEqual(recorded);
});

test("a trace is gone on with in its newest context", async () => {
  const directory = traceDir();
  const first = openWriter(directory);
  first.record(userText("one"));
  first.startContext([meta()]);
  first.close();
  const second = openWriter(directory);
  second.record(userText("two"));
  expect(second.file).toBe(join(directory, "002.jsonl"));
  expect(await messagesIn(second.file)).toEqual([
    meta(),
    expect.objectContaining({ payload: userText("two").payload }),
  ]);
});

test("the record after a torn one begins on a line of its own", async () => {
  const directory = traceDir();
  const first = openWriter(directory);
  first.record(userText("whole"));
  first.close();
  appendFileSync(first.file, '{"timestamp":"2026-');
  const second = openWriter(directory);
  second.record(userText("next"));
  second.record(userText("and next"));
  const entries = await entriesIn(second.file);
  expect(textsOf(entries)).toEqual(["whole", "next", "and next"]);
  expect(entries.at(-1)).toEqual({
    problem: `${second.file}: a line that cannot be read left out: line 2 is not JSON: "{\\"timestamp\\":\\"2026-"`,
    torn: false,
  });
});

test("a whole last record without its newline is kept and not run into", async () => {
  const directory = traceDir();
  mkdirSync(directory);
  writeFileSync(join(directory, "001.jsonl"), JSON.stringify(userText("kept")));
  const writer = openWriter(directory);
  writer.record(userText("next"));
  const entries = await entriesIn(writer.file);
  expect(textsOf(entries)).toEqual(["kept", "next"]);
  expect(entries).toHaveLength(2);
});

test("a new context stands in the next file, and later records go there", async () => {
  const directory = traceDir();
  const writer = openWriter(directory);
  writer.record(userText("old"));
  const carried = [meta({ carried: 1 }), userText("summary")];
  expect(writer.startContext(carried)).toBe(true);
  const later = userText("later");
  writer.record(later);
  expect(readdirSync(directory).sort()).toEqual(["001.jsonl", "002.jsonl"]);
  expect(await messagesIn(join(directory, "002.jsonl"))).toEqual([...carried, later]);
});

test("what a killed process left of a new context is no context, and is replaced by the next one", async () => {
  const directory = traceDir();
  const killed = openWriter(directory);
  killed.record(userText("old"));
  writeFileSync(join(directory, "002.jsonl.tmp"), '{"half');
  const writer = openWriter(directory);
  expect(writer.file).toBe(join(directory, "001.jsonl"));
  writer.startContext([meta()]);
  expect(await messagesIn(writer.file)).toEqual([meta()]);
  expect(readdirSync(directory).sort()).toEqual(["001.jsonl", "002.jsonl"]);
});

test("a context that cannot be written leaves the old one in use and is reported", async () => {
  const directory = traceDir();
  const failures: Error[] = [];
  const writer = openWriter(directory, failures);
  writer.record(userText("old"));
  mkdirSync(join(directory, "002.jsonl.tmp"));
  expect(writer.startContext([meta()])).toBe(false);
  writer.record(userText("later"));
  expect(textsOf(await entriesIn(join(directory, "001.jsonl")))).toEqual(["old", "later"]);
  expect(failures).toHaveLength(1);
});

test("a directory that cannot be written never throws, is reported once, and is tried again", async () => {
  const directory = traceDir();
  const failures: Error[] = [];
  const writer = openWriter(directory, failures);
  writeFileSync(directory, "a file in the place of the directory");
  writer.record(userText("lost"));
  writer.record(userText("lost too"));
  expect(failures.map(({ message }) => message)).toEqual([
    expect.stringMatching(
      /^cannot record the session in .*001\.jsonl: E[A-Z]+: .*; until that is mended its trace has gaps$/,
    ),
  ]);
  rmSync(directory);
  writer.record(userText("kept"));
  expect(textsOf(await entriesIn(writer.file))).toEqual(["kept"]);
});

test("a directory without the right to write never throws", () => {
  const directory = traceDir();
  const failures: Error[] = [];
  mkdirSync(directory, { mode: 0o500 });
  becomeOrdinaryUser(dirname(directory));
  openWriter(directory, failures).record(userText("lost"));
  expect(failures).toHaveLength(1);
  expect(failures[0]?.message).toContain("EACCES");
});

test("a message that is no JSON is reported and costs no other record", async () => {
  const failures: Error[] = [];
  const writer = openWriter(traceDir(), failures);
  const circular: Record<string, unknown> = {};
  circular.self = circular;
  writer.record(userText("before"));
  writer.record(
    modelMessage({ type: "tool_call_output", role: "user", output: "", tool_call_id: "1", details: circular }),
  );
  writer.record(userText("after"));
  expect(textsOf(await entriesIn(writer.file))).toEqual(["before", "after"]);
  expect(failures).toHaveLength(1);
});

const smallDisk = mountSmallDisk();
afterAll(() => {
  if (smallDisk === undefined) return;
  execFileSync("umount", [smallDisk]);
  rmSync(smallDisk, { recursive: true });
});

test.skipIf(smallDisk === undefined)(
  "a full disk never throws, and what is recorded when there is room again is whole (needs the right to mount)",
  async () => {
    const directory = join(smallDisk ?? "", "trace");
    const filler = join(smallDisk ?? "", "filler");
    const failures: Error[] = [];
    const writer = openWriter(directory, failures);
    writeFileSync(filler, Buffer.alloc(64 * 1024));
    for (let n = 0; n < 40; n += 1) writer.record(userText(`${n} ${"x".repeat(10_000)}`));
    expect(failures.map(({ message }) => message)).toEqual([expect.stringContaining("ENOSPC")]);
    rmSync(filler);
    const last = userText("room again");
    writer.record(last);
    const entries = await entriesIn(writer.file);
    expect(textsOf(entries).at(-1)).toBe("room again");
    expect(textsOf(entries).slice(0, -1)).toEqual(
      textsOf(entries)
        .slice(0, -1)
        .map((_, n) => `${n} ${"x".repeat(10_000)}`),
    );
    expect(entries.length).toBeGreaterThan(3);
  },
);

function traceDir(): string {
  const parent = mkdtempSync(join(tmpdir(), "rookery-trace-"));
  onTestFinished(() => rmSync(parent, { recursive: true }));
  return join(parent, "trace");
}

function openWriter(directory: string, failures?: Error[]): TraceWriter {
  const writer = TraceWriter.open(directory, {
    onFailure: (error) => {
      if (failures === undefined) throw error;
      failures.push(error);
    },
  });
  onTestFinished(() => writer.close());
  return writer;
}

function meta(more: { carried?: number } = {}): OmniMessage {
  const message = sessionMetaMessage({
    session_id: "session-2026-03-04-05-06-07-01234567",
    provider: "custom",
    model_id: "custom",
    model_context_window: "unknown",
    system_prompt: "",
    agent_state: "",
    workspace: "/app",
    ...more,
  });
  return { ...message, timestamp: "2026-03-04T05:06:07.000Z" };
}

async function entriesIn(file: string): Promise<TraceEntry[]> {
  const entries: TraceEntry[] = [];
  for await (const entry of readTrace(file)) entries.push(entry);
  return entries;
}

async function messagesIn(file: string): Promise<OmniMessage[]> {
  return (await entriesIn(file)).map((entry) => {
    if ("problem" in entry) throw new Error(entry.problem);
    return entry.message;
  });
}

function textsOf(entries: readonly TraceEntry[]): string[] {
  return entries.flatMap((entry) =>
    "message" in entry && entry.message.payload.type === "text" ? [entry.message.payload.text] : [],
  );
}

function mode(path: string): number {
  return statSync(path).mode & 0o777;
}

function mountSmallDisk(): string | undefined {
  const directory = mkdtempSync(join(tmpdir(), "rookery-small-disk-"));
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=128k", "tmpfs", directory], { stdio: "ignore" });
    return directory;
  } catch {
    rmSync(directory, { recursive: true });
    return undefined;
  }
}
