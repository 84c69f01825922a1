import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { userText } from "../omnimessage/build.ts";
import { toJsonLine } from "../omnimessage/json-lines.ts";
import { readTraceAt } from "./read-trace-at.ts";

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "rookery-read-"));
});
afterEach(() => rm(root, { recursive: true }));

const line = (text: string): string => toJsonLine(userText(text));

test("a file is read by itself, a directory with all contexts in the order of their numbers", async () => {
  await writeFile(join(root, "002.jsonl"), line("two"));
  await writeFile(join(root, "1000.jsonl"), line("last"));
  await writeFile(join(root, "001.jsonl"), `${line("one")}{"torn`);
  expect(await texts(join(root, "002.jsonl"))).toEqual(["two"]);
  expect(await texts(root)).toEqual(["one", expect.stringContaining("cut off"), "two", "last"]);
});

test.each([
  ["missing", "ENOENT"],
  ["empty", "the directory holds no 001.jsonl"],
  ["/dev/null", "it is neither a file nor a directory"],
])("the path %s is told of, with what would be right", async (name, what) => {
  await mkdir(join(root, "empty"));
  const path = name.startsWith("/") ? name : join(root, name);
  await expect(texts(path)).rejects.toMatchObject({
    code: "trace-corrupt",
    message: `cannot read a trace at ${JSON.stringify(path)}: ${what}`,
    hint: "name a trace file, a session's directory, or what rookery sessions export wrote",
  });
});

async function texts(path: string): Promise<unknown[]> {
  const found: unknown[] = [];
  for await (const entry of readTraceAt(path)) {
    found.push("problem" in entry ? entry.problem : (entry.message.payload as { text?: string }).text);
  }
  return found;
}
