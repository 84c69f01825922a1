import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { rookery } from "../src/rookery.ts";
import { fakeIo, written } from "./support/fake-io.ts";

let root = "";
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "rookery-test-"));
});
afterEach(() => rm(root, { recursive: true }));

/** One call at a terminal, with the line a person answers with; without one nobody may be asked. */
async function call(name: string, args: object, answer?: string, mode = "always-ask"): Promise<string> {
  const io = fakeIo({ isTTY: true, cwd: root, env: { ROOKERY_HOME: join(root, "home"), PATH: process.env.PATH } });
  const json = JSON.stringify({ description: "d", ...args });
  const done = rookery(["tool", "call", name, json, "--approve", mode], io);
  if (answer !== undefined) {
    await written(io.err, "n to deny: ");
    io.stdin.write(`${answer}\n`);
  }
  await done;
  if (answer === undefined) expect(io.err()).not.toContain("n to deny");
  return io.out();
}

test("a command that was always allowed is not asked about again, with more behind it neither; another one is", async () => {
  const echo = (cmd: string, answer?: string, mode?: string) => call("exec_command", { cmd }, answer, mode);
  expect(await echo("echo a1", "y")).toContain("a1");
  expect(await echo("echo a1", "a")).toContain("a1");
  expect(await echo("echo a1")).toContain("a1");
  expect(await echo("echo a1 b2")).toContain("a1 b2");
  expect(await echo("echo c3", "n")).toContain("Tool call denied by user.");
  expect(await echo("echo a1; echo c3", "n")).toContain("Tool call denied by user.");
  expect(await echo("echo a1", undefined, "deny-all")).toContain("the mode deny-all denies every call");
  expect(await call("exec_command", { cmd: "echo a1", workdir: "/" }, "n")).toContain("Tool call denied by user.");
});

test("a file that may always be written is one file", async () => {
  const write = (file_path: string, answer?: string) => call("write_file", { file_path, content: "x" }, answer);
  await write("a.txt", "a");
  await write("a.txt");
  expect(await write("b.txt", "n")).toContain("Tool call denied by user.");
});
