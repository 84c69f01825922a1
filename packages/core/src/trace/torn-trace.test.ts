import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { assistantText, eventMessage, userText } from "../omnimessage/build.ts";
import { toJsonLine } from "../omnimessage/json-lines.ts";
import type { OmniMessage } from "../omnimessage/message.ts";
import { readTrace } from "./read-trace.ts";
import { TraceWriter } from "./trace-writer.ts";

const records: readonly OmniMessage[] = [
  userText("héllo \u2028 🜁"),
  eventMessage({ type: "request_begin" }),
  assistantText("two\nlines {}"),
  eventMessage({ type: "request_end", status: "completed" }),
];

test("wherever a trace is cut off, the whole records before the cut are read, and a record after it is kept", async () => {
  const { file, directory } = traceIn(temporaryDirectory());
  const whole = Buffer.from(records.map(toJsonLine).join(""));
  for (let cut = 0; cut <= whole.length; cut += 1) await checkCut(whole, cut, { file, directory });
});

test("traces of any text can be cut off anywhere", async () => {
  const paths = traceIn(temporaryDirectory());
  const texts = fc.array(fc.string({ unit: "binary", maxLength: 40 }), { minLength: 1, maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(texts, fc.nat(), async (said, at) => {
      const whole = Buffer.from(said.map((line) => toJsonLine(userText(line))).join(""));
      await checkCut(whole, at % (whole.length + 1), paths);
    }),
    { numRuns: 100 },
  );
});

test("a trace whose writer is killed at any moment reads, with every record that was acknowledged", async () => {
  const chains = [0, 1, 2, 3].map(async () => {
    const { file, directory } = traceIn(temporaryDirectory());
    const acknowledged: number[] = [];
    for (let run = 0; run < 5; run += 1) acknowledged.push(await writeUntilKilled(directory, run));
    const numbers = (await read(file)).messages.map((message) => numberOf(message));
    for (const [run, last] of acknowledged.entries()) {
      const ofRun = numbers.filter((number) => number.run === run).map(({ n }) => n);
      expect(ofRun).toEqual(ofRun.map((_, n) => n));
      expect(ofRun.length).toBeGreaterThan(last);
    }
  });
  await Promise.all(chains);
}, 60_000);

async function checkCut(whole: Buffer, cut: number, { file, directory }: TracePaths): Promise<void> {
  writeFileSync(file, whole.subarray(0, cut));
  const expected = recordsBefore(whole, cut);
  const before = await read(file);
  expect(before.messages).toEqual(expected.messages);
  expect(before.torn).toBe(expected.torn);

  const next = userText("next");
  const writer = TraceWriter.open(directory);
  writer.record(next);
  writer.close();
  expect((await read(file)).messages).toEqual([...expected.messages, next]);
}

/** A record is whole with its last brace; its newline may be missing. */
function recordsBefore(whole: Buffer, cut: number): { messages: OmniMessage[]; torn: boolean } {
  const messages: OmniMessage[] = [];
  let start = 0;
  for (let end = whole.indexOf("\n"); end !== -1 && end <= cut; end = whole.indexOf("\n", start)) {
    messages.push(JSON.parse(whole.toString("utf8", start, end)) as OmniMessage);
    start = end + 1;
  }
  return { messages, torn: start < cut };
}

async function read(file: string): Promise<{ messages: OmniMessage[]; torn: boolean }> {
  const messages: OmniMessage[] = [];
  let torn = false;
  for await (const entry of readTrace(file)) {
    if ("message" in entry) messages.push(entry.message);
    else torn ||= entry.torn;
  }
  return { messages, torn };
}

/** Returns the number of the last record that the writer said it had recorded. */
async function writeUntilKilled(directory: string, run: number): Promise<number> {
  const flags = ["--conditions=rookery-source", "--import", "tsx", "--input-type=module", "--eval", WRITER];
  const child = spawn(process.execPath, [...flags, directory, String(run)], { stdio: ["ignore", "pipe", "pipe"] });
  const complaints = text(child.stderr);
  const enough = 1 + Math.floor(Math.random() * 200);
  let acknowledged = -1;
  child.stdout.on("data", (bytes: Buffer) => {
    acknowledged += bytes.length;
    if (acknowledged >= enough) child.kill("SIGKILL");
  });
  await new Promise((resolve) => child.on("close", resolve));
  expect(await complaints).toBe("");
  return acknowledged;
}

const WRITER = `
  import { writeSync } from "node:fs";
  const { TraceWriter } = await import(${JSON.stringify(new URL("trace-writer.ts", import.meta.url).href)});
  const { userText } = await import(${JSON.stringify(new URL("../omnimessage/build.ts", import.meta.url).href)});
  const [directory, run] = process.argv.slice(1);
  const writer = TraceWriter.open(directory, { onFailure: (error) => { throw error; } });
  for (let n = 0; ; n += 1) {
    writer.record(userText(JSON.stringify({ run: Number(run), n, filler: "é".repeat((n * 7919) % 30_000) })));
    acknowledge();
  }
  function acknowledge() {
    for (;;) {
      try {
        return writeSync(1, ".");
      } catch (error) {
        // The pipe does not wait for a reader who is kept from reading.
        if (error.code !== "EAGAIN") throw error;
      }
    }
  }
`;

function numberOf(message: OmniMessage): { run: number; n: number } {
  if (message.payload.type !== "text") throw new Error(`a ${message.payload.type} nobody wrote`);
  return JSON.parse(message.payload.text) as { run: number; n: number };
}

interface TracePaths {
  readonly directory: string;
  readonly file: string;
}

function traceIn(directory: string): TracePaths {
  return { directory, file: join(directory, "001.jsonl") };
}

function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "rookery-trace-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  return directory;
}
