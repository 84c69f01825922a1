import { createHash } from "node:crypto";
import { readdir, symlink } from "node:fs/promises";
import { expect, test } from "vitest";
import { callAgentTool } from "../../../../test/support/agent-tool-call.ts";
import { fileWorkspace } from "../../../../test/support/file-workspace.ts";
import { toBuiltinTool } from "../../adapt-agent-tool.ts";
import { read } from "./read.ts";
import { createWriteTool, write } from "./write.ts";

test("path and content create a file, and the true number of bytes is reported (PI-040, PI-042, PI-043)", async () => {
  const { dir, text } = await fileWorkspace();
  const content = "console.log('Hellö');";
  const result = await createWriteTool({ cwd: dir }).execute("write_789", { path: "src/app.ts", content });
  expect(result).toEqual({
    content: [{ type: "text", text: "✓ Wrote 22 bytes to src/app.ts" }],
    details: { path: "src/app.ts", bytesWritten: 22 },
  });
  expect(await text("src/app.ts")).toBe(content);
});

test("it overwrites whatever is there, and an empty content is one (PI-041)", async () => {
  const { dir, write, text } = await fileWorkspace();
  await write("a.txt", "old");
  const tool = createWriteTool({ cwd: dir });
  expect((await callAgentTool(tool, { path: "a.txt", content: "new\n" })).isError).toBe(false);
  expect(await text("a.txt")).toBe("new\n");
  await write("a.txt", "changed by somebody else");
  expect((await callAgentTool(tool, { path: "a.txt", content: "" })).text).toBe("✓ Wrote 0 bytes to a.txt");
  expect(await text("a.txt")).toBe("");
});

test("without options paths are relative to the process's own directory (PI-045)", async () => {
  const { path, text } = await fileWorkspace();
  const tool = createWriteTool();
  expect((await callAgentTool(tool, { path: path("a.txt"), content: "x" })).text).toBe(
    `✓ Wrote 1 bytes to ${path("a.txt")}`,
  );
  expect(await text("a.txt")).toBe("x");
  expect(toBuiltinTool(tool).paths?.({ path: "a.txt" })).toEqual({ write: [`${process.cwd()}/a.txt`] });
});

test.for([
  [{ path: "dir", content: "x" }, "cannot write dir: it is a directory"],
  [{ path: "new/", content: "x" }, "cannot write new/: the path names a directory"],
  [{ path: "file/below.txt", content: "x" }, "cannot write file/below.txt: "],
  [{ path: "a.txt" }, "cannot write a.txt: content must be a string, got nothing"],
  [{ content: "x" }, "cannot write: path must be a string, got nothing"],
] as const)("a write that cannot be done says so, and leaves nothing behind: %j (PI-044)", async ([params, text]) => {
  const { dir, write } = await fileWorkspace();
  await write("dir/keep", "");
  await write("file", "");
  const result = await callAgentTool(createWriteTool({ cwd: dir }), params);
  expect(result.text).toContain(text);
  expect(result.isError).toBe(true);
  expect((await readdir(dir)).sort()).toEqual(["dir", "file"]);
});

test("an aborted write writes nothing", async () => {
  const { dir } = await fileWorkspace();
  const params = { path: "a.txt", content: "x" };
  const { text } = await callAgentTool(createWriteTool({ cwd: dir }), params, AbortSignal.abort());
  expect(text).toBe("cannot write a.txt: interrupted; nothing was written");
  expect(await readdir(dir)).toEqual([]);
});

test("in the toolset a file that changed since it was read, or since it was shown, is not overwritten", async () => {
  const workspace = await fileWorkspace();
  await workspace.write("a.txt", "one");
  await workspace.run(read, { path: "a.txt" });
  await workspace.write("a.txt", "two");
  const stale = await workspace.run(write, { path: "a.txt", content: "mine" });
  expect(stale.text).toContain("cannot write a.txt: the file changed since this session last saw it");
  await workspace.run(read, { path: "a.txt" });
  const shown = await workspace.run(write, { path: "a.txt", content: "mine" }, { state: { fingerprint: null } });
  expect(shown.text).toContain("the file changed since the write was shown for approval: there was none");
  const done = await workspace.run(write, { path: "a.txt", content: "mine" });
  const sha256 = createHash("sha256").update("mine").digest("hex");
  expect(done).toMatchObject({ stopReason: "completed", details: { path: "a.txt", bytesWritten: 4, sha256 } });
});

test("expected_sha256 is honoured, for a file that is not there too", async () => {
  const { dir, write, text } = await fileWorkspace();
  const tool = createWriteTool({ cwd: dir });
  const expected_sha256 = createHash("sha256").update("old").digest("hex");
  const absent = await callAgentTool(tool, { path: "a.txt", content: "new", expected_sha256 });
  expect(absent.text).toMatch(/^cannot write a\.txt: expected_sha256 is [0-9a-f]{64}, but there is no file; /);
  await write("a.txt", "other");
  expect((await callAgentTool(tool, { path: "a.txt", content: "new", expected_sha256 })).isError).toBe(true);
  expect(await text("a.txt")).toBe("other");
  await write("a.txt", "old");
  const upperCase = expected_sha256.toUpperCase();
  await callAgentTool(tool, { path: "a.txt", content: "new", expected_sha256: upperCase });
  expect(await text("a.txt")).toBe("new");
});

test("what is asked about a write: where it leads, whether something is there, how the content begins", async () => {
  const { dir, path, write } = await fileWorkspace();
  await write("a.txt", "old");
  await symlink(path("a.txt"), path("link"));
  const tool = toBuiltinTool(createWriteTool({ cwd: dir }));
  const summary = (args: object) => tool.approvalSummary?.({ content: "a\nb\n", ...args }, { workspaceDir: "/" });
  expect(await summary({ path: "new.txt" })).toBe("create new.txt with 4 bytes\n+ a\n+ b");
  expect(await summary({ path: "link", content: "" })).toBe(`overwrite link -> ${path("a.txt")} with 0 bytes`);
  expect(await summary({ path: ".", content: "" })).toBe("write . with 0 bytes");
  expect(tool.risk).toBe("filesystem");
});
