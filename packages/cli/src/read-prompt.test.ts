import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { fakeIo } from "../test/support/fake-io.ts";
import { readPrompt } from "./read-prompt.ts";

test("with a prompt as argument standard input is left alone", async () => {
  const io = fakeIo();
  expect(await readPrompt("say hi", undefined, io)).toBe("say hi");
  expect(io.stdin.readableFlowing).toBeNull();
});

test("without one standard input is the prompt, without the line end that echo adds", async () => {
  expect(await readPrompt(undefined, undefined, fakeIo({ stdin: "body\n" }))).toBe("body");
});

test("--file - adds standard input after a blank line", async () => {
  expect(await readPrompt("sum up", "-", fakeIo({ stdin: "body\n" }))).toBe("sum up\n\nbody");
});

test("--file is the prompt, or more of it", async () => {
  const cwd = await mkdtemp(join(tmpdir(), "rookery-prompt-"));
  await writeFile(join(cwd, "task.md"), "do it\n");
  expect(await readPrompt(undefined, "task.md", fakeIo({ cwd }))).toBe("do it");
  expect(await readPrompt("first", join(cwd, "task.md"), fakeIo({ cwd: "/" }))).toBe("first\n\ndo it");
  await expect(readPrompt(undefined, "none.md", fakeIo({ cwd }))).rejects.toMatchObject({
    code: "usage",
    message: "cannot read none.md: ENOENT",
    hint: "name a file that you may read",
  });
});

test("at a terminal without a prompt nothing is waited for", async () => {
  await expect(readPrompt(undefined, undefined, fakeIo({ isTTY: true }))).rejects.toMatchObject({
    code: "usage",
    message: "run was given no prompt",
  });
});

test("- in place of a prompt leads to --file -", async () => {
  await expect(readPrompt("-", undefined, fakeIo({ stdin: "body" }))).rejects.toMatchObject({
    code: "usage",
    message: "- is no prompt",
    hint: "write --file - for standard input",
  });
});

test.each(["", " \n\t\n"])("a blank prompt is refused: %j", async (stdin) => {
  await expect(readPrompt(undefined, undefined, fakeIo({ stdin }))).rejects.toMatchObject({
    code: "input-empty",
    message: "the prompt is empty",
  });
  await expect(readPrompt(stdin, undefined, fakeIo())).rejects.toMatchObject({ code: "input-empty" });
});

test("an input without end is refused after ten mebibytes", async () => {
  let produced = 0;
  function* yes(): Generator<Uint8Array> {
    for (;;) {
      produced += 1;
      yield Buffer.alloc(65_536, "y\n");
    }
  }
  await expect(readPrompt(undefined, undefined, fakeIo({ stdin: yes() }))).rejects.toMatchObject({
    code: "input-too-large",
    message: "standard input holds more than 10 MiB",
    hint: "put it into a file of the workspace and let the prompt name that",
  });
  expect(produced).toBeLessThan(200);
});

test("bytes that are not UTF-8 are replaced, with a warning", async () => {
  const io = fakeIo({ stdin: Buffer.from("caf\xe9", "latin1") });
  expect(await readPrompt("x", "-", io)).toBe("x\n\ncaf\ufffd");
  expect(io.err()).toBe("rookery: warning: standard input is not valid UTF-8; the bytes that are not were replaced\n");
});
