import { mkdir, mkdtemp, readdir, readFile, realpath, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { inPinnedDirectory } from "./pinned-directory.ts";

async function directory(): Promise<string> {
  const path = await realpath(await mkdtemp(join(tmpdir(), "pinned-test-")));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  await mkdir(join(path, "inside"));
  await mkdir(join(path, "outside"));
  return path;
}

test.skipIf(process.platform !== "linux")(
  "work goes on in the directory that was there when it began, whatever is put in its place (PE-018)",
  async () => {
    const dir = await directory();
    await inPinnedDirectory(join(dir, "inside/f"), async (path) => {
      await rename(join(dir, "inside"), join(dir, "moved"));
      await symlink("outside", join(dir, "inside"));
      await writeFile(path, "x");
    });
    expect(await readdir(join(dir, "outside"))).toEqual([]);
    expect(await readFile(join(dir, "moved/f"), "utf8")).toBe("x");
  },
);

test.skipIf(process.platform !== "linux")("a directory that has become a link is refused before any work", async () => {
  const dir = await directory();
  await rm(join(dir, "inside"), { recursive: true });
  await symlink("outside", join(dir, "inside"));
  const work = inPinnedDirectory(join(dir, "inside/f"), async () => expect.fail("it began"));
  await expect(work).rejects.toThrow("its directory was replaced meanwhile; call again");
});

test("a directory that is not there and a file in its place are the system's own errors", async () => {
  const dir = await directory();
  await writeFile(join(dir, "file"), "");
  const work = (path: string): Promise<unknown> => inPinnedDirectory(join(dir, path), (pinned) => readFile(pinned));
  await expect(work("none/f")).rejects.toMatchObject({ code: "ENOENT" });
  await expect(work("file/f")).rejects.toMatchObject({ code: "ENOTDIR" });
});
