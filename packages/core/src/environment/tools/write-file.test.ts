import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, readdir, stat, symlink, truncate, utimes } from "node:fs/promises";
import { expect, onTestFinished, test } from "vitest";
import { canMount } from "../../../test/support/can-mount.ts";
import { type FileWorkspace, fileWorkspace } from "../../../test/support/file-workspace.ts";
import { readFile } from "./read-file.ts";
import { writeFile } from "./write-file.ts";

const sha256 = (content: string | Uint8Array): string => createHash("sha256").update(content).digest("hex");
const numbers = (count: number): string => Array.from({ length: count }, (_, i) => `${i + 1}\n`).join("");

type Answer = Awaited<ReturnType<FileWorkspace["run"]>>;
type Options = Parameters<FileWorkspace["run"]>[2];

/** Overwrites a fresh file and gives the answer with what is there afterwards. */
async function overwrite(
  old: string,
  content: string,
  more: Record<string, unknown> = {},
  options?: Options,
): Promise<Answer & { after: string }> {
  const workspace = await fileWorkspace();
  await workspace.write("f.txt", old);
  const answer = await workspace.run(writeFile, { file_path: "f.txt", content, ...more }, options);
  return { ...answer, after: await workspace.text("f.txt") };
}

test("write_file ships with permission rw and 30000 ms (PT-008, PT-133)", () => {
  expect(writeFile.definition).toMatchObject({
    name: "write_file",
    permission: "rw",
    timeoutMs: 30_000,
    maxOutputLength: 16_000,
    parameters: { required: ["file_path", "content"] },
  });
});

test("a new file is reported with its lines and bytes, in one delta (PT-112, PT-114, PT-134, PT-136)", async () => {
  const workspace = await fileWorkspace();
  const answer = await workspace.run(writeFile, { file_path: "a.txt", content: "é\nb\n" });
  expect(answer).toEqual({
    text: "Created a.txt (2 lines, 5 bytes)",
    stopReason: "completed",
    details: { path: workspace.path("a.txt"), sha256: sha256("é\nb\n") },
    deltas: 1,
  });
  expect(await workspace.text("a.txt")).toBe("é\nb\n");
});

test("an absolute path outside the workspace is written (PT-113)", async () => {
  const workspace = await fileWorkspace();
  const outside = await fileWorkspace();
  await workspace.run(writeFile, { file_path: outside.path("a"), content: "x" });
  expect(await outside.text("a")).toBe("x");
});

test("an overwrite replaces the whole content and shows a small change as a diff (PT-134, PT-136, PT-137)", async () => {
  const answer = await overwrite("one\ntwo\n", "one\n2\n");
  expect(answer.text).toBe(
    "Overwrote f.txt (2 lines, 6 bytes)\n--- a/f.txt\n+++ b/f.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2",
  );
  expect(answer.after).toBe("one\n2\n");
});

test("a large change is one line of counts (PT-138)", async () => {
  const answer = await overwrite(numbers(100), numbers(100).replaceAll("\n", "!\n"));
  expect(answer.text).toBe("Overwrote f.txt (100 lines, 392 bytes)\n+100/−100 lines");
});

test("over a large or a binary file the counts are those of the whole contents (PT-138)", async () => {
  expect((await overwrite("0123456789abcde\n".repeat(70_000), "x")).text).toBe(
    "Overwrote f.txt (1 line, 1 byte)\n+1/−70000 lines",
  );
  expect((await overwrite("a\0\nb", "a\nb\n")).text).toBe("Overwrote f.txt (2 lines, 4 bytes)\n+2/−2 lines");
});

test("identical content is said to be unchanged", async () => {
  expect(await overwrite("a\n", "a\n")).toMatchObject({
    stopReason: "completed",
    text: "f.txt is unchanged: it has this content already (1 line, 2 bytes)",
  });
});

test("empty content makes an empty file (PT-139)", async () => {
  const workspace = await fileWorkspace();
  expect((await workspace.run(writeFile, { file_path: "empty", content: "" })).text).toBe(
    "Created empty (0 lines, 0 bytes)",
  );
  expect(await workspace.text("empty")).toBe("");
  expect((await overwrite("a\n", "")).text).toBe(
    "Overwrote f.txt (0 lines, 0 bytes)\n--- a/f.txt\n+++ b/f.txt\n@@ -1 +0,0 @@\n-a",
  );
});

test("missing content and paths are failures (PT-115, PT-133)", async () => {
  const workspace = await fileWorkspace();
  expect((await workspace.run(writeFile, { file_path: "a" })).text).toBe(
    "cannot write a: content must be a string, got nothing",
  );
  expect((await workspace.run(writeFile, { content: "a" })).text).toBe(
    "cannot write: file_path must be a string, got nothing",
  );
  expect(await readdir(workspace.dir)).toEqual([]);
});

test("missing parents are created; a parent that is a file is not replaced (PT-115, PT-135, case write-parents)", async () => {
  const workspace = await fileWorkspace();
  await workspace.write("plain", "keep\n");
  const run = (file_path: string, content: string): Promise<Answer> => workspace.run(writeFile, { file_path, content });
  expect((await run("new/deep/é dir/a.txt", "x\n")).stopReason).toBe("completed");
  expect(await run("plain/b.txt", "x")).toMatchObject({
    stopReason: "failed",
    text: `cannot write plain/b.txt: ${workspace.path("plain")} is a file, not a directory`,
  });
  expect((await run("new/deep/é dir/empty", "")).stopReason).toBe("completed");
  expect(await workspace.text("new/deep/é dir/a.txt")).toBe("x\n");
  expect(await workspace.text("plain")).toBe("keep\n");
});

test("a directory is refused and nothing is created (case write-path-is-directory)", async () => {
  const workspace = await fileWorkspace();
  await mkdir(workspace.path("out"));
  const text = async (file_path: string): Promise<string> =>
    (await workspace.run(writeFile, { file_path, content: "x" })).text;
  expect(await text("out")).toBe(
    "cannot write out: it is a directory, not a file; name a file in it, or list it with the shell",
  );
  for (const path of ["out/", "newdir/", "newdir/."]) {
    expect(await text(path)).toBe(
      `cannot write ${path}: the path names a directory; name a file, and its parent directories are created`,
    );
  }
  expect(await readdir(workspace.dir, { recursive: true })).toEqual(["out"]);
});

test("parents that were made are taken away again when the write fails (PT-135)", async () => {
  const workspace = await fileWorkspace();
  const answer = await workspace.run(writeFile, { file_path: `p/q/${"x".repeat(300)}`, content: "x" });
  expect(answer).toMatchObject({ stopReason: "failed" });
  expect(answer.text).toContain("name too long (ENAMETOOLONG)");
  expect(await readdir(workspace.dir)).toEqual([]);
});

test("content is written literally (case write-text-is-literal)", async () => {
  const content = '<p>&lt;b&gt; &amp; &quot;x&quot;</p>\nre = "a\\nb\\t\\\\"\n\ttab\r\n';
  expect((await overwrite("", content)).after).toBe(content);
});

test.skipIf(!canMount)(
  "a full disk leaves the old content and no temporary file (case write-disk-full-keeps-old; needs the right to mount)",
  async () => {
    const workspace = await fileWorkspace();
    await mkdir(workspace.path("mnt"));
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=64k", "none", workspace.path("mnt")]);
    onTestFinished(() => void execFileSync("umount", [workspace.path("mnt")]));
    await workspace.write("mnt/a.txt", "precious\n");
    for (const file_path of ["mnt/a.txt", "mnt/new/b.txt"]) {
      expect(await workspace.run(writeFile, { file_path, content: "y".repeat(200_000) })).toMatchObject({
        stopReason: "failed",
        text: `cannot write ${file_path}: no space left on device (ENOSPC)`,
      });
    }
    expect(await workspace.text("mnt/a.txt")).toBe("precious\n");
    expect(await readdir(workspace.path("mnt"))).toEqual(["a.txt"]);
  },
);

test("links are written through, dangling ones too", async () => {
  const workspace = await fileWorkspace();
  await symlink("real.txt", workspace.path("link"));
  expect((await workspace.run(writeFile, { file_path: "link", content: "1" })).text).toMatch(/^Created link/);
  expect((await workspace.run(writeFile, { file_path: "link", content: "2" })).text).toMatch(/^Overwrote link/);
  expect(await workspace.text("real.txt")).toBe("2");
});

test("a file that changed since the session saw it is not overwritten, and both hashes are named (PT-134)", async () => {
  const workspace = await fileWorkspace();
  await workspace.write("a", "one");
  await workspace.run(readFile, { file_path: "a" });
  await workspace.write("a", "user's");
  const write = (content: string): Promise<Answer> => workspace.run(writeFile, { file_path: "a", content });
  expect(await write("two")).toMatchObject({
    stopReason: "failed",
    text:
      `cannot write a: the file changed since this session last saw it: its sha256 was ${sha256("one")}, ` +
      `now it is ${sha256("user's")}; read the file again and try once more`,
  });
  expect(await workspace.text("a")).toBe("user's");
  await workspace.run(readFile, { file_path: "a" });
  expect((await write("two")).stopReason).toBe("completed");
  expect((await write("three")).stopReason).toBe("completed");
});

test("a file that the session never saw may be overwritten (PT-134)", async () => {
  expect((await overwrite("unseen", "new")).stopReason).toBe("completed");
});

test("expected_sha256 is honoured, for a file that is not there too", async () => {
  expect((await overwrite("a", "b", { expected_sha256: sha256("a") })).after).toBe("b");
  const refused = await overwrite("a", "b", { expected_sha256: sha256("c") });
  expect(refused.text).toBe(
    `cannot write f.txt: expected_sha256 is ${sha256("c")}, but it is ${sha256("a")}; read the file again and try once more`,
  );
  expect(refused.after).toBe("a");
  const workspace = await fileWorkspace();
  const args = { file_path: "n", content: "x", expected_sha256: sha256("a") };
  expect((await workspace.run(writeFile, args)).text).toBe(
    `cannot write n: expected_sha256 is ${sha256("a")}, but there is no file; read the file again and try once more`,
  );
});

test("a write runs only against the content that it was assessed against", async () => {
  const workspace = await fileWorkspace();
  const tool = writeFile.create(writeFile.definition, {
    workspaceDir: workspace.dir,
    toolConfig: { customTools: [], mcpServers: [] },
  });
  const assess = (file_path: string): unknown =>
    tool.assessState?.({ file_path, content: "x" }, { workspaceDir: workspace.dir });
  const write = (file_path: string, state: unknown): Promise<Answer> =>
    workspace.run(writeFile, { file_path, content: "x" }, { state });

  await workspace.write("a", "1");
  const present = await assess("a");
  expect(present).toEqual({ fingerprint: sha256("1") });
  const absent = await assess("b");
  expect(absent).toEqual({ fingerprint: null });

  await workspace.write("a", "2");
  expect((await write("a", present)).text).toBe(
    `cannot write a: the file changed since the write was shown for approval: its sha256 was ${sha256("1")}, ` +
      `now it is ${sha256("2")}; read the file again and try once more`,
  );
  await workspace.write("b", "2");
  expect((await write("b", absent)).text).toContain(`: there was none, now it is ${sha256("2")};`);
  expect((await write("c", present)).text).toContain(`: its sha256 was ${sha256("1")}, now there is no file;`);
  expect(await workspace.text("a")).toBe("2");
  expect((await write("a", await assess("a"))).stopReason).toBe("completed");
  await mkdir(workspace.path("dir"));
  expect(await assess("dir")).toBeUndefined();
});

test("a file over 64 MiB is told by its size and time, and is neither read nor hashed for that", async () => {
  const workspace = await fileWorkspace();
  await truncate(await workspace.write("big", ""), 6 * 1024 ** 3);
  const tool = writeFile.create(writeFile.definition, {
    workspaceDir: workspace.dir,
    toolConfig: { customTools: [], mcpServers: [] },
  });
  const write = (state: unknown): Promise<Answer> =>
    workspace.run(writeFile, { file_path: "big", content: "x" }, { state });
  const state = await tool.assessState?.({ file_path: "big", content: "x" }, { workspaceDir: workspace.dir });
  const { mtimeMs } = await stat(workspace.path("big"));
  expect(state).toEqual({ fingerprint: `6442450944 bytes, modified ${mtimeMs}` });
  await utimes(workspace.path("big"), 1, 1);
  expect((await write(state)).text).toBe(
    "cannot write big: the file changed since the write was shown for approval: it was 6442450944 bytes, " +
      `modified ${mtimeMs}, now it is 6442450944 bytes, modified 1000; read the file again and try once more`,
  );
  const now = await tool.assessState?.({ file_path: "big", content: "x" }, { workspaceDir: workspace.dir });
  expect((await write(now)).text).toBe("Overwrote big (1 line, 1 byte)\n[it had 6442450944 bytes]");
});

test("an expected_sha256 of a file over 64 MiB is honoured, and an interruption meanwhile", async () => {
  const workspace = await fileWorkspace();
  const content = Buffer.alloc(65 * 1024 * 1024, "x");
  await workspace.write("big", content);
  const args = { file_path: "big", content: "y", expected_sha256: sha256(content) };
  const controller = new AbortController();
  setImmediate(() => controller.abort());
  expect((await workspace.run(writeFile, args, { signal: controller.signal })).text).toBe(
    "cannot write big: interrupted while the file was read",
  );
  expect((await workspace.run(writeFile, { ...args, expected_sha256: "a" })).text).toContain(
    'expected_sha256 is "a", which is no SHA-256, but it is ',
  );
  expect((await workspace.run(writeFile, args)).stopReason).toBe("completed");
});

test("an interrupted write changes nothing", async () => {
  const answer = await overwrite("a", "b", {}, { signal: AbortSignal.abort() });
  expect(answer).toMatchObject({
    stopReason: "failed",
    text: "cannot write f.txt: interrupted; nothing was written",
    after: "a",
  });
});

test("protected files are refused, before they exist too", async () => {
  const workspace = await fileWorkspace();
  const options = { protectedPaths: [workspace.path("state/vault.yaml")] };
  await symlink("state", workspace.path("alias"));
  for (const file_path of ["state/Vault.YAML", "alias/vault.yaml"]) {
    expect((await workspace.run(writeFile, { file_path, content: "x" }, options)).text).toBe(
      `cannot write ${file_path}: it holds the harness's own secrets, which no file tool may touch; work without it`,
    );
  }
});

test("the summary says whether the file exists, with sizes and the beginning of the content", async () => {
  const workspace = await fileWorkspace();
  const tool = writeFile.create(writeFile.definition, {
    workspaceDir: workspace.dir,
    toolConfig: { customTools: [], mcpServers: [] },
  });
  const summary = (file_path: string, content: string): unknown =>
    tool.approvalSummary?.({ file_path, content }, { workspaceDir: workspace.dir });
  await workspace.write("a", "12345");
  expect(await summary("a", "x\n")).toBe("overwrite a with 1 line, 2 bytes, now 5 bytes\n+ x");
  expect(await summary("b", "")).toBe("create b with 0 lines, 0 bytes");
  expect(await summary("b", "x".repeat(200))).toBe(`create b with 1 line, 200 bytes\n+ ${"x".repeat(120)}…`);
  expect(tool.risk).toBe("filesystem");
  expect(tool.paths?.({ file_path: "a", content: "" })).toEqual({ write: ["a"] });
});
