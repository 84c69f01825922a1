import { createHash } from "node:crypto";
import { readdir, truncate } from "node:fs/promises";
import { expect, test } from "vitest";
import { callAgentTool } from "../../../../test/support/agent-tool-call.ts";
import { fileWorkspace } from "../../../../test/support/file-workspace.ts";
import { toBuiltinTool } from "../../adapt-agent-tool.ts";
import { createEditTool, type EditDetails, edit } from "./edit.ts";
import { read } from "./read.ts";

const TEN = "one\ntwo\nthree\nfour\nconst x = 1\nsix\nseven\neight\nnine\nten\n";

async function editing(before: string | Uint8Array, params: Record<string, unknown>) {
  const { dir, write, bytes } = await fileWorkspace();
  await write("a.txt", before);
  const result = await callAgentTool(createEditTool({ cwd: dir }), { path: "a.txt", ...params });
  expect(await readdir(dir)).toEqual(["a.txt"]);
  return { ...result, after: (await bytes("a.txt")).toString("latin1") };
}

test("a range of lines is replaced, and the result tells lines and diff (PI-046, PI-048, PI-049, PI-050)", async () => {
  const { dir, write, text } = await fileWorkspace();
  await write("src/app.ts", TEN);
  const params = { path: "src/app.ts", startLine: 5, endLine: 10, content: "const x = 42;" };
  expect(await createEditTool({ cwd: dir }).execute("edit_101", params)).toEqual({
    content: [{ type: "text", text: "✓ Edited lines 5-10 in src/app.ts" }],
    details: {
      path: "src/app.ts",
      startLine: 5,
      endLine: 10,
      linesChanged: 6,
      diff: "- const x = 1\n- six\n- seven\n- eight\n- nine\n- ten\n+ const x = 42;",
    },
  });
  expect(await text("src/app.ts")).toBe("one\ntwo\nthree\nfour\nconst x = 42;\n");
});

test("the diff leaves out lines that stay", async () => {
  const { details } = await editing(TEN, { startLine: 4, endLine: 6, content: "four\nconst x = 42\nsix\n" });
  expect(details).toMatchObject({ linesChanged: 3, diff: "- const x = 1\n+ const x = 42" });
});

test("oldText and newText replace a text that stands there once (PI-047)", async () => {
  const { text, details, after } = await editing(TEN, { oldText: "x = 1\nsix", newText: "y = 2" });
  expect(text).toBe("✓ Edited lines 5-6 in a.txt");
  expect(details).toMatchObject({
    startLine: 5,
    endLine: 6,
    linesChanged: 2,
    diff: "- const x = 1\n- six\n+ const y = 2",
  });
  expect(after).toBe("one\ntwo\nthree\nfour\nconst y = 2\nseven\neight\nnine\nten\n");
});

test("an empty content removes the lines, and the end of the file stays as it is", async () => {
  expect(await editing("a\nb\nc", { startLine: 2, endLine: 2, content: "" })).toMatchObject({
    after: "a\nc",
    details: { diff: "- b" },
  });
  expect((await editing("a\nb", { startLine: 2, endLine: 2, content: "c" })).after).toBe("a\nc");
  expect((await editing("a\nb\n", { startLine: 2, endLine: 2, content: "c\nd\n" })).after).toBe("a\nc\nd\n");
  expect((await editing("abc", { oldText: "b", newText: "" })).after).toBe("ac");
});

test("line endings, byte order mark and bytes that are not UTF-8 stay", async () => {
  expect((await editing("a\r\nb\r\nc", { startLine: 1, endLine: 2, content: "x\ny" })).after).toBe("x\r\ny\r\nc");
  expect((await editing("a\r\nb\r\n", { oldText: "a\nb", newText: "x\ny" })).after).toBe("x\r\ny\r\n");
  const bytes = Buffer.from([0xef, 0xbb, 0xbf, 0xff, 0x0a, 0x62, 0x0a]);
  expect((await editing(bytes, { startLine: 2, endLine: 2, content: "$& $1" })).after).toBe(
    "\xef\xbb\xbf\xff\n$& $1\n",
  );
  expect((await editing(bytes, { startLine: 1, endLine: 1, content: "a" })).after).toBe("\xef\xbb\xbfa\nb\n");
});

test.for([
  [{ startLine: 9, endLine: 12, content: "x" }, "cannot edit a.txt: there are no lines 9 to 12; the file has 10"],
  [
    { startLine: 3, endLine: 2, content: "x" },
    "cannot edit a.txt: endLine 2 comes before startLine 3; give the smaller one first",
  ],
  [
    { startLine: 3, content: "x" },
    "cannot edit a.txt: give startLine, endLine and content, or oldText and newText; got startLine, content",
  ],
  [{}, "cannot edit a.txt: give startLine, endLine and content, or oldText and newText; got neither"],
  [
    { startLine: 1, endLine: 1, content: "x", oldText: "a", newText: "b" },
    "got startLine, endLine, content, oldText, newText",
  ],
  [{ startLine: "1", endLine: 1, content: "x" }, 'startLine must be a whole number, got "1"'],
  [{ oldText: "", newText: "x" }, "oldText is empty; to create a file or replace its whole content use write"],
  [{ oldText: "e", newText: "x" }, "oldText occurs more than once, and nothing was replaced"],
  [{ oldText: "const y = 1", newText: "x" }, "the file has x (U+0078), oldText has y (U+0079)"],
  [{ oldText: "one", newText: "one" }, "the new text is what stands there already, so nothing would change"],
  [{ startLine: 2, endLine: 2, content: "two" }, "the new text is what stands there already, so nothing would change"],
] as const)("an edit that cannot be done says so and changes nothing: %j (PI-051)", async ([params, text]) => {
  const result = await editing(TEN, params);
  expect(result.text).toContain(text);
  expect(result).toMatchObject({ isError: true, after: TEN });
});

test("without options the tool works too; what is no file it can change is refused (PI-052)", async () => {
  const { path, write, text } = await fileWorkspace();
  await write("a.txt", "a\n");
  await write("wide.txt", Buffer.from("\ufeffa\n", "utf16le"));
  await write("huge.txt", "");
  await truncate(path("huge.txt"), 64 * 1024 * 1024 + 1);
  const tool = createEditTool();
  const change = { startLine: 1, endLine: 1, content: "b" };
  expect((await callAgentTool(tool, { path: path("a.txt"), ...change })).isError).toBe(false);
  expect(await text("a.txt")).toBe("b\n");
  const answers = ["missing.txt", "wide.txt", "huge.txt"].map((name) =>
    callAgentTool(tool, { path: path(name), ...change }),
  );
  for (const answer of answers) expect((await answer).isError).toBe(true);
  expect((await answers[1])?.text).toContain("the file is UTF-16; use bash");
  expect((await answers[2])?.text).toContain("the file is over 64 MiB");
});

test("a diff of very many lines is all removed and all added, and is shortened", async () => {
  const many = Array.from({ length: 3000 }, (_, i) => `${i}\n`).join("");
  const { details } = await editing(many, { startLine: 1, endLine: 3000, content: many.replaceAll("\n", "x\n") });
  const { diff } = details as { diff: string };
  expect(diff.startsWith("- 0\n- 1\n")).toBe(true);
  expect(diff.length).toBe(16_000);
});

test("more than 20,000 lines are not compared with what comes in their place", async () => {
  const lines = (count: number): string => "a\n".repeat(count);
  const change = async (count: number) => {
    const { details } = await editing(lines(count), { startLine: 1, endLine: count, content: `${lines(count)}b` });
    return (details as EditDetails).diff;
  };
  expect(await change(19_999)).toBe("+ b");
  expect(await change(20_001)).toMatch(/^(- a\n){3000}/);
});

test("edits of one file wait for one another", async () => {
  const { dir, write, text } = await fileWorkspace();
  await write("a.txt", "a b c d\n");
  const tool = createEditTool({ cwd: dir });
  await Promise.all(
    ["a", "b", "c", "d"].map((letter) =>
      callAgentTool(tool, { path: "a.txt", oldText: letter, newText: letter.toUpperCase() }),
    ),
  );
  expect(await text("a.txt")).toBe("A B C D\n");
});

test("in the toolset lines of a file that changed are not replaced, a text that stands there once is", async () => {
  const workspace = await fileWorkspace();
  await workspace.write("a.txt", "a\nb\n");
  await workspace.run(read, { path: "a.txt" });
  await workspace.write("a.txt", "new\na\nb\n");
  const byLine = await workspace.run(edit, { path: "a.txt", startLine: 2, endLine: 2, content: "c" });
  expect(byLine.text).toContain("cannot edit a.txt: the file changed since this session last saw it");
  const byText = await workspace.run(edit, { path: "a.txt", oldText: "b", newText: "c" });
  expect(byText.text).toBe("✓ Edited lines 3-3 in a.txt\n[the file had changed since this session last saw it]");
  const again = await workspace.run(edit, { path: "a.txt", startLine: 1, endLine: 1, content: "newer" });
  expect(again.details).toMatchObject({ sha256: expect.stringMatching(/^[0-9a-f]{64}$/) });
  const seen = { state: { fingerprint: "0".repeat(64) } };
  const shown = await workspace.run(edit, { path: "a.txt", startLine: 1, endLine: 1, content: "x" }, seen);
  expect(shown.text).toContain("the file changed since the write was shown for approval");
});

test("in a file that changed, a text that stands there only with other line ends is not replaced", async () => {
  const workspace = await fileWorkspace();
  await workspace.write("a.txt", "a\nb\n");
  await workspace.run(read, { path: "a.txt" });
  await workspace.write("a.txt", "a\r\nb\r\n");
  const { text } = await workspace.run(edit, { path: "a.txt", oldText: "a\nb", newText: "c" });
  expect(text).toContain("cannot edit a.txt: the file changed since this session last saw it");
});

test("expected_sha256 is honoured", async () => {
  const change = { oldText: "a", newText: "b" };
  const wrong = await editing("a\n", { ...change, expected_sha256: "0".repeat(64) });
  expect(wrong.text).toMatch(/^cannot edit a\.txt: expected_sha256 is 0{64}, but it is [0-9a-f]{64}; /);
  expect(wrong.after).toBe("a\n");
  const sha256 = createHash("sha256").update("a\n").digest("hex");
  expect((await editing("a\n", { ...change, expected_sha256: sha256 })).after).toBe("b\n");
});

test("what is asked about an edit shows the lines that go and the text that comes", async () => {
  const { dir, write } = await fileWorkspace();
  await write("a.txt", TEN);
  const tool = toBuiltinTool(createEditTool({ cwd: dir }));
  const summary = (args: object) => tool.approvalSummary?.({ path: "a.txt", ...args }, { workspaceDir: "/" });
  expect(await summary({ startLine: 2, endLine: 3, content: "2\n" })).toBe(
    "edit a.txt, lines 2 to 3\n- two\n- three\n+ 2",
  );
  expect(await summary({ oldText: "wo", newText: "" })).toBe("edit a.txt, lines 2 to 2\n- wo");
  expect(await summary({ oldText: "nothing", newText: "x" })).toBe("edit a.txt\n- nothing\n+ x");
  expect(await summary({ startLine: 99, endLine: 99, content: "x" })).toBe("edit a.txt, lines 99 to 99\n+ x");
});
