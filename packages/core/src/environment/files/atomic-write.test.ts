import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmod,
  chown,
  copyFile,
  type FileHandle,
  link,
  mkdir,
  open,
  readdir,
  readFile,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { expect, onTestFinished, test, vi } from "vitest";
import { becomeOrdinaryUser } from "../../../test/support/become-ordinary-user.ts";
import { canMount } from "../../../test/support/can-mount.ts";
import { fileWorkspace } from "../../../test/support/file-workspace.ts";
import { createFileAtomically, writeFileAtomically } from "./atomic-write.ts";

const isRoot = process.getuid?.() === 0;

test("the file is replaced in one step, with its mode kept whatever the umask is", async () => {
  const workspace = await fileWorkspace();
  const path = await workspace.write("go.sh", "v1");
  await chmod(path, 0o751);
  const before = await stat(path);
  const umask = process.umask(0o077);
  onTestFinished(() => void process.umask(umask));
  expect(await writeFileAtomically(path, Buffer.from("v2"))).toEqual({});
  const after = await stat(path);
  expect(after.mode & 0o7777).toBe(0o751);
  expect(after.ino).not.toBe(before.ino);
  expect(await readdir(workspace.dir)).toEqual(["go.sh"]);
});

test("a new file has the mode of the umask", async () => {
  const workspace = await fileWorkspace();
  const umask = process.umask(0o027);
  onTestFinished(() => void process.umask(umask));
  await writeFileAtomically(workspace.path("new.txt"), Buffer.from("x"));
  expect((await stat(workspace.path("new.txt"))).mode & 0o7777).toBe(0o640);
});

test.skipIf(!isRoot)("the owner and the set-id bits are kept (only root may give files away)", async () => {
  const workspace = await fileWorkspace();
  const path = await workspace.write("a", "v1");
  await chown(path, 1, 2);
  await chmod(path, 0o4755);
  await writeFileAtomically(path, Buffer.from("v2"));
  expect(await stat(path)).toMatchObject({ uid: 1, gid: 2 });
  expect((await stat(path)).mode & 0o7777).toBe(0o4755);
});

test("a file with several links is written in place, so that every name sees the change", async () => {
  const workspace = await fileWorkspace();
  const path = await workspace.write("a", "a longer first version");
  await link(path, workspace.path("b"));
  expect(await writeFileAtomically(path, Buffer.from("v2"))).toEqual({ inPlace: "hard links" });
  expect(await workspace.text("b")).toBe("v2");
  expect(await readdir(workspace.dir)).toEqual(["a", "b"]);
});

test("in a directory without write permission the file is written in place", async () => {
  const workspace = await fileWorkspace();
  const path = await workspace.write("ro/a", "v1");
  await chmod(workspace.path("ro"), 0o555);
  onTestFinished(() => chmod(workspace.path("ro"), 0o755));
  becomeOrdinaryUser(workspace.dir);
  expect(await writeFileAtomically(path, Buffer.from("v2"))).toEqual({ inPlace: "unwritable directory" });
  expect(await workspace.text("ro/a")).toBe("v2");
  await expect(writeFileAtomically(workspace.path("ro/new"), Buffer.from("x"))).rejects.toMatchObject({
    code: "EACCES",
  });
});

test("a file without write permission is not replaced", async () => {
  const workspace = await fileWorkspace();
  const path = await workspace.write("a", "v1");
  await chmod(path, 0o444);
  becomeOrdinaryUser(workspace.dir);
  await expect(writeFileAtomically(path, Buffer.from("v2"))).rejects.toMatchObject({ code: "EACCES" });
  expect(await workspace.text("a")).toBe("v1");
});

test("a program that runs can be replaced", async () => {
  const workspace = await fileWorkspace();
  const path = workspace.path("sleeper");
  await copyFile("/bin/sleep", path);
  const running = spawn(path, ["60"]);
  onTestFinished(() => void running.kill());
  await once(running, "spawn");
  expect(await writeFileAtomically(path, Buffer.from("v2"))).toEqual({});
  expect(await workspace.text("sleeper")).toBe("v2");
});

test.skipIf(!canMount)("a file that is a mount point is written in place (needs the right to mount)", async () => {
  const workspace = await fileWorkspace();
  const path = await workspace.write("a", "v1");
  const source = await workspace.write("elsewhere/b", "v1");
  execFileSync("mount", ["--bind", source, path]);
  onTestFinished(() => void execFileSync("umount", [path]));
  expect(await writeFileAtomically(path, Buffer.from("v2"))).toEqual({ inPlace: "mount point" });
  expect(await readFile(source, "utf8")).toBe("v2");
  expect(await readdir(workspace.dir)).toEqual(["a", "elsewhere"]);
});

test.skipIf(!canMount)(
  "on a full disk the old content stands and no temporary file is left (needs the right to mount)",
  async () => {
    const workspace = await fileWorkspace();
    const disk = workspace.path("mnt");
    await mkdir(disk);
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=64k", "none", disk]);
    onTestFinished(() => void execFileSync("umount", [disk]));
    await writeFile(`${disk}/a`, "precious\n");
    await writeFile(`${disk}/b`, "also precious\n");
    await link(`${disk}/b`, `${disk}/c`);
    for (const name of ["a", "b", "new"]) {
      await expect(writeFileAtomically(`${disk}/${name}`, Buffer.alloc(200_000, "y"))).rejects.toMatchObject({
        code: "ENOSPC",
      });
    }
    expect(await readFile(`${disk}/a`, "utf8")).toBe("precious\n");
    expect(await readFile(`${disk}/c`, "utf8")).toBe("also precious\n");
    // The copy of the new content fits, the file that it is to be written into does not: the old content is put back.
    await expect(writeFileAtomically(`${disk}/b`, Buffer.alloc(40_000, "y"))).rejects.toMatchObject({ code: "ENOSPC" });
    expect(await readFile(`${disk}/c`, "utf8")).toBe("also precious\n");
    expect((await readdir(disk)).sort()).toEqual(["a", "b", "c"]);
  },
);

test("the whole content is flushed in a temporary file of the same directory before it is put in place (PE-018, PE-019)", async () => {
  const workspace = await fileWorkspace();
  const path = await workspace.write("f", "old");
  const handle = await open(path);
  const prototype: FileHandle = Object.getPrototypeOf(handle);
  await handle.close();
  const flushed: unknown[] = [];
  const sync = vi.spyOn(prototype, "sync").mockImplementation(async function (this: FileHandle) {
    const names = await readdir(workspace.dir);
    const temporary = names.find((name) => name !== "f" && name !== "g") ?? "";
    flushed.push([await workspace.text("f"), names.includes("g"), await workspace.text(temporary)]);
    await this.datasync();
  });
  onTestFinished(() => sync.mockRestore());
  await writeFileAtomically(path, Buffer.from("new"));
  await createFileAtomically(workspace.path("g"), Buffer.from("made"));
  expect(flushed).toEqual([
    ["old", false, "new"],
    ["new", false, "made"],
  ]);
  expect((await readdir(workspace.dir)).sort()).toEqual(["f", "g"]);
});

test("a file is created only where nothing is, a dangling link included, with the mode of the umask (PE-013)", async () => {
  const workspace = await fileWorkspace();
  const umask = process.umask(0o027);
  onTestFinished(() => void process.umask(umask));
  expect(await createFileAtomically(workspace.path("f"), Buffer.from("one"))).toEqual({});
  expect((await stat(workspace.path("f"))).mode & 0o7777).toBe(0o640);
  await symlink("nowhere", workspace.path("dangling"));
  for (const name of ["f", "dangling"]) {
    const created = createFileAtomically(workspace.path(name), Buffer.from("two"));
    await expect(created).rejects.toMatchObject({ code: "EEXIST" });
  }
  expect(await workspace.text("f")).toBe("one");
  expect((await readdir(workspace.dir)).sort()).toEqual(["dangling", "f"]);
});

test("without hard links a file is created where it lies, and still only where nothing is", async () => {
  const workspace = await fileWorkspace();
  const noLinks = async (): Promise<void> => {
    throw Object.assign(new Error("not permitted"), { code: "EPERM" });
  };
  const create = (content: string) => createFileAtomically(workspace.path("f"), Buffer.from(content), noLinks);
  expect(await create("one")).toEqual({ inPlace: "no hard links" });
  await expect(create("two")).rejects.toMatchObject({ code: "EEXIST" });
  expect(await workspace.text("f")).toBe("one");
  expect(await readdir(workspace.dir)).toEqual(["f"]);
});
