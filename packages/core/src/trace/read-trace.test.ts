import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { userText } from "../omnimessage/build.ts";
import { toJsonLine } from "../omnimessage/json-lines.ts";
import { readTrace, type TraceEntry } from "./read-trace.ts";

const one = userText("one");
const two = userText("two");

test("records come in order, and an undamaged trace tells of no problem", async () => {
  expect(await read(toJsonLine(one) + toJsonLine(two))).toEqual([{ message: one }, { message: two }]);
  expect(await read("")).toEqual([]);
});

test("a torn last line is left out and told of", async () => {
  expect(await read(`${toJsonLine(one)}{"timestamp":`)).toEqual([
    { message: one },
    { problem: "FILE: the last record was cut off when it was written and is left out", torn: true },
  ]);
});

test("damaged lines are left out and told of together, the first three by number", async () => {
  const damage = ["[]", '{"type":"text"', "\0\0", "{}", "nonsense"].map((line) => `${line}\n`);
  const [first, second, ...problems] = await read(toJsonLine(one) + damage.join("") + toJsonLine(two));
  expect([first, second]).toEqual([{ message: one }, { message: two }]);
  expect(problems).toEqual([
    {
      problem:
        'FILE: 5 lines that cannot be read left out: line 2 is not a message: the message must be an object; line 3 is not JSON: "{\\"type\\":\\"text\\""; line 4 is not JSON: "\\u0000\\u0000"; and 2 more',
      torn: false,
    },
  ]);
});

test("a line nested so deep that nobody could walk through it is damage, and the reading goes on", async () => {
  const nest = "[".repeat(200_000) + "]".repeat(200_000);
  const deep = toJsonLine(one).replace('"text":"one"', `"text":${nest}`);
  const unknown = toJsonLine(one).replace('"text":"one"', `"text":"one","more":${nest}`);
  expect(await read(deep + unknown + toJsonLine(two))).toEqual([
    { message: two },
    { problem: expect.stringMatching(/^FILE: 2 lines .*must not be nested more than 1000 levels deep/), torn: false },
  ]);
});

test("thousands of damaged lines are one short problem", async () => {
  const problems = await read(`{"x":"${"y".repeat(500)}"}\n`.repeat(10_000));
  expect(problems).toEqual([{ problem: expect.stringMatching(/^FILE: 10000 lines .*; and 9997 more$/), torn: false }]);
  expect(JSON.stringify(problems).length).toBeLessThan(1000);
});

test("a missing file is told of by its path", async () => {
  await expect(readTrace("/nowhere/001.jsonl").next()).rejects.toMatchObject({
    code: "trace-corrupt",
    message: 'cannot read a trace at "/nowhere/001.jsonl": ENOENT',
    hint: "see that it is there and that you may read it",
  });
});

async function read(content: string): Promise<TraceEntry[]> {
  const directory = mkdtempSync(join(tmpdir(), "rookery-trace-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const file = join(directory, "001.jsonl");
  writeFileSync(file, content);
  const entries: TraceEntry[] = [];
  for await (const entry of readTrace(file)) {
    entries.push("problem" in entry ? { ...entry, problem: entry.problem.replace(file, "FILE") } : entry);
  }
  return entries;
}
