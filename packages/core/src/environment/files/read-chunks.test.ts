import { appendFile } from "node:fs/promises";
import { expect, onTestFinished, test } from "vitest";
import { fileWorkspace } from "../../../test/support/file-workspace.ts";
import { fingerprintOf } from "./content-hash.ts";
import { type OpenFile, openRegularFile } from "./open-regular-file.ts";
import { MAX_WHOLE_BYTES, readChunks, readWhole } from "./read-chunks.ts";

const onLinux = test.skipIf(process.platform !== "linux");

test("a file is read whole, also what was added after it was opened, in pieces of more than a few bytes", async () => {
  const workspace = await fileWorkspace();
  const path = await workspace.write("a", "x");
  const file = await opened(path);
  const more = "0123456789".repeat(200_000);
  await appendFile(path, more);
  expect((await readWhole(file)).toString()).toBe(`x${more}`);
  let chunks = 0;
  for await (const _ of readChunks(file)) chunks += 1;
  expect(chunks).toBeLessThan(1000);
});

test("an empty file is read", async () => {
  const workspace = await fileWorkspace();
  expect(await readWhole(await opened(await workspace.write("a", "")))).toEqual(Buffer.alloc(0));
});

test("an interruption is no end of the file", async () => {
  const workspace = await fileWorkspace();
  const file = await opened(await workspace.write("a", "x"));
  await expect(readWhole(file, AbortSignal.abort())).rejects.toThrow("interrupted while the file was read");
});

onLinux("an error while a file is read is no end of it", async () => {
  await expect(readWhole(await opened("/proc/self/mem"))).rejects.toMatchObject({ code: "EIO" });
});

onLinux("a file of /proc has no size and is read to its end", async () => {
  expect((await readWhole(await opened("/proc/self/status"))).toString()).toContain("Pid:");
});

onLinux("a file without size and end is given up at 64 MiB, and told by its size and time", async () => {
  const file = await opened("/proc/self/pagemap");
  await expect(readWhole(file)).rejects.toThrow("more than 64 MiB");
  expect(await fingerprintOf(file)).toMatch(/^0 bytes, modified /);
  expect(MAX_WHOLE_BYTES).toBe(64 * 2 ** 20);
});

async function opened(path: string): Promise<OpenFile> {
  const file = await openRegularFile(path);
  onTestFinished(() => file.close());
  return file;
}
