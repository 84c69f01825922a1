import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rename, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { toolsetCalls } from "../../../../test/support/toolset-calls.ts";

const sha256 = (content: string): string => createHash("sha256").update(content).digest("hex");

test("create makes a file and its directories, replace puts a whole content in place and shows the change (PE-011)", async () => {
  const { dir, call } = await toolsetCalls("strict");
  expect(await call("write", { path: "a/b.txt", content: "é\nb\n", mode: "create" })).toEqual({
    output: "Created a/b.txt (2 lines, 5 bytes)",
    stopReason: "completed",
    details: { path: join(dir, "a/b.txt"), sha256: sha256("é\nb\n") },
  });
  const { output } = await call("write", { path: "a/b.txt", content: "é\nc\n", mode: "replace" });
  expect(output).toBe(
    "Overwrote a/b.txt (2 lines, 5 bytes)\n--- a/a/b.txt\n+++ b/a/b.txt\n@@ -1,2 +1,2 @@\n é\n-b\n+c",
  );
  expect(await readFile(join(dir, "a/b.txt"), "utf8")).toBe("é\nc\n");
});

test.for([
  [{ path: "f", content: "x" }, "mode: is required and missing"],
  [{ path: "f", content: "x", mode: "append" }, 'mode: must be one of "create", "replace", got "append"'],
  [{ path: "f", mode: "create" }, "content: is required and missing"],
  [{ content: "x", mode: "create" }, "path: is required and missing"],
  [{ path: "f", content: 1, mode: "create" }, "content: must be a string, got 1"],
  [{ path: "f/", content: "x", mode: "create" }, "the path names a directory"],
  ['"f"', "the arguments of write must be a JSON object"],
] as const)("%j is an argument error and writes nothing (PE-001, PE-011, PE-012)", async ([args, problem]) => {
  const { dir, assess, call } = await toolsetCalls("strict");
  expect((await assess("write", args)).error).toContain(problem);
  expect(await call("write", args)).toMatchObject({ stopReason: "failed" });
  expect(await readdir(dir)).toEqual([]);
});

test("a definition that lets any mode through changes nothing about which there are (PE-012)", async () => {
  const definition = { name: "write", description: "Writes.", parameters: { type: "object" } };
  const { call } = await toolsetCalls("strict", { toolConfig: { customTools: [definition], mcpServers: [] } });
  const { output } = await call("write", { path: "f", content: "x", mode: "append" });
  expect(output).toBe('write was not run: mode must be "create" or "replace", got "append"');
});

test("create where something is fails and leaves it as it was (PE-013)", async () => {
  const { dir, call } = await toolsetCalls("strict");
  await writeFile(join(dir, "f"), "old");
  await mkdir(join(dir, "d"));
  const before = await stat(join(dir, "f"));
  expect(await call("write", { path: "f", content: "new", mode: "create" })).toMatchObject({
    output: 'cannot write f: it exists already with 3 bytes; use mode "replace" to write over it',
    stopReason: "failed",
  });
  expect((await call("write", { path: "d", content: "new", mode: "create" })).output).toContain("it is a directory");
  expect(await readFile(join(dir, "f"), "utf8")).toBe("old");
  expect((await stat(join(dir, "f"))).ino).toBe(before.ino);
  expect((await readdir(dir)).sort()).toEqual(["d", "f"]);
});

test("of many that create one file at once, in sessions of their own, one does, and its content is whole (PE-013, PE-020)", async () => {
  const { dir } = await toolsetCalls("strict");
  const sessions = await Promise.all(Array.from({ length: 8 }, () => toolsetCalls("strict", { workspaceDir: dir })));
  const contents = sessions.map((_, i) => `${i}`.repeat(100_000));
  const outcomes = await Promise.all(
    sessions.map(({ call }, i) => call("write", { path: "sub/f", content: contents[i], mode: "create" })),
  );
  const won = outcomes.flatMap(({ stopReason }, i) => (stopReason === "completed" ? [i] : []));
  expect(won).toHaveLength(1);
  expect(await readFile(join(dir, "sub/f"), "utf8")).toBe(contents[won[0] ?? -1]);
  for (const { output } of outcomes.filter((_, i) => i !== won[0])) expect(output).toContain("it exists already");
  expect(await readdir(join(dir, "sub"))).toEqual(["f"]);
});

test("replace where no file is fails and creates nothing, no directory either (PE-014)", async () => {
  const { dir, call } = await toolsetCalls("strict");
  expect(await call("write", { path: "sub/f", content: "x", mode: "replace" })).toMatchObject({
    output: `cannot write sub/f: ${dir}/sub/f does not exist; ${dir} is empty; use mode "create" to make it`,
    stopReason: "failed",
  });
  expect(await readdir(dir)).toEqual([]);
});

test("expected_sha256 may be left out; given, it must be the hash of what is there (PE-015, PE-016)", async () => {
  const { dir, call } = await toolsetCalls("strict");
  const write = (content: string, expected_sha256?: string, path = "f") =>
    call("write", { path, content, mode: path === "f" ? "replace" : "create", expected_sha256 });
  await writeFile(join(dir, "f"), "one");
  expect((await write("two")).stopReason).toBe("completed");
  expect(await write("three", sha256("one"))).toMatchObject({
    output: `cannot write f: expected_sha256 is ${sha256("one")}, but it is ${sha256("two")}; read the file again and try once more`,
    stopReason: "failed",
  });
  expect(await readFile(join(dir, "f"), "utf8")).toBe("two");
  expect((await write("three", sha256("two").toUpperCase())).stopReason).toBe("completed");
  expect((await write("x", sha256(""), "g")).output).toContain("but there is no file");
  expect(await readdir(dir)).toEqual(["f"]);
});

test("a file that changed since the session read it is not replaced, and both hashes are named", async () => {
  const { dir, call } = await toolsetCalls("strict");
  await writeFile(join(dir, "f"), "one");
  await call("read", { path: "f", limit: 1 });
  await writeFile(join(dir, "f"), "by another");
  const { output } = await call("write", { path: "f", content: "two", mode: "replace" });
  expect(output).toContain(`its sha256 was ${sha256("one")}, now it is ${sha256("by another")}`);
  await call("read", { path: "f" });
  expect((await call("write", { path: "f", content: "two", mode: "replace" })).stopReason).toBe("completed");
});

test("a write runs only against the content that it was shown against, or where none was shown", async () => {
  const { dir, assess, call } = await toolsetCalls("strict");
  await writeFile(join(dir, "f"), "one\n");
  const replace = { path: "f", content: "two\n", mode: "replace" };
  const approved = await assess("write", replace);
  await writeFile(join(dir, "f"), "by another\n");
  expect((await call("write", replace, { assessment: approved })).output).toContain(
    "since the write was shown for approval",
  );
  const create = { path: "g", content: "two\n", mode: "create" };
  const approvedToCreate = await assess("write", create);
  await writeFile(join(dir, "g"), "by another\n");
  expect((await call("write", create, { assessment: approvedToCreate })).output).toContain("it exists already");
  expect(await readFile(join(dir, "f"), "utf8")).toBe("by another\n");
  expect(await readFile(join(dir, "g"), "utf8")).toBe("by another\n");
});

test("a directory that is replaced by a link after the call was assessed leads no write out of the workspace (PE-018)", async () => {
  const { dir, assess, call } = await toolsetCalls("strict");
  const outside = await toolsetCalls("strict");
  await mkdir(join(dir, "sub"));
  const args = { path: "sub/f", content: "x", mode: "create" };
  const assessment = await assess("write", args);
  await rename(join(dir, "sub"), join(dir, "old"));
  await symlink(outside.dir, join(dir, "sub"));
  const { output, stopReason } = await call("write", args, { assessment });
  expect([output.includes("leads"), stopReason]).toEqual([true, "failed"]);
  expect([await readdir(outside.dir), await readdir(join(dir, "old"))]).toEqual([[], []]);
});

test("links inside are written through, a dangling one by creating what it names", async () => {
  const { dir, call } = await toolsetCalls("strict");
  await writeFile(join(dir, "real"), "one");
  await symlink("real", join(dir, "link"));
  await symlink("new", join(dir, "dangling"));
  await call("write", { path: "link", content: "two", mode: "replace" });
  await call("write", { path: "dangling", content: "three", mode: "create" });
  expect(await readFile(join(dir, "real"), "utf8")).toBe("two");
  expect(await readFile(join(dir, "new"), "utf8")).toBe("three");
});

test("whoever reads while a file is replaced sees a whole content, old or new (PE-020)", async () => {
  const { dir, call } = await toolsetCalls("strict");
  const contents = ["a".repeat(500_000), "b".repeat(400_000)];
  await writeFile(join(dir, "f"), contents[0] ?? "");
  let done = false;
  const seen = new Set<boolean>();
  const reader = (async () => {
    while (!done) seen.add(contents.includes(await readFile(join(dir, "f"), "utf8")));
  })();
  for (let i = 1; i <= 10; i++) await call("write", { path: "f", content: contents[i % 2], mode: "replace" });
  done = true;
  await reader;
  expect([...seen]).toEqual([true]);
  expect(await readdir(dir)).toEqual(["f"]);
});

test("the summary shows what is to be created, or the change as a diff; the risk is filesystem (PE-021)", async () => {
  const { dir, assess } = await toolsetCalls("strict");
  expect(await assess("write", { path: "new", content: "one\ntwo\n", mode: "create" })).toMatchObject({
    risk: "filesystem",
    summary: "create new with 2 lines, 8 bytes\n+ one\n+ two",
    paths: { write: [join(dir, "new")] },
  });
  await writeFile(join(dir, "f"), "one\ntwo\n");
  const replace = async (content: string) => (await assess("write", { path: "f", content, mode: "replace" })).summary;
  expect(await replace("one\n2\n")).toBe(
    "replace f with 2 lines, 6 bytes, now 8 bytes\n--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n one\n-two\n+2",
  );
  expect(await replace("x\n".repeat(100))).toMatch(/^replace f with 100 lines.*\n\+100\/−2 lines\n\+ x\n/);
  await writeFile(join(dir, "f"), "a\0b");
  expect(await replace("text\n")).toBe("replace f with 1 line, 5 bytes, now 3 bytes\n+ text");
});
