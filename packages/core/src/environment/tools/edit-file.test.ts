import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmod, link, lstat, readdir, stat, symlink, truncate } from "node:fs/promises";
import { expect, onTestFinished, test, vi } from "vitest";
import { type FileWorkspace, fileWorkspace } from "../../../test/support/file-workspace.ts";
import { editFile } from "./edit-file.ts";
import { readFile } from "./read-file.ts";
import { writeFile } from "./write-file.ts";

const sha256 = (content: string | Uint8Array): string => createHash("sha256").update(content).digest("hex");

type Answer = Awaited<ReturnType<FileWorkspace["run"]>>;

/** Edits a fresh file and gives the answer with the bytes that are there afterwards. */
async function edit(
  content: string | Uint8Array,
  old_string: string,
  new_string: string,
  more: Record<string, unknown> = {},
): Promise<Answer & { after: Buffer }> {
  const workspace = await fileWorkspace();
  await workspace.write("f.txt", content);
  const answer = await workspace.run(editFile, { file_path: "f.txt", old_string, new_string, ...more });
  expect(await readdir(workspace.dir)).toEqual(["f.txt"]);
  return { ...answer, after: await workspace.bytes("f.txt") };
}

test("edit_file ships with permission rw and 30000 ms (PT-007, PT-123)", () => {
  expect(editFile.definition).toMatchObject({
    name: "edit_file",
    permission: "rw",
    timeoutMs: 30_000,
    maxOutputLength: 16_000,
    parameters: { required: ["file_path", "old_string", "new_string"] },
  });
});

test("success names the number and shows a unified diff, in one delta (PT-114, PT-129, PT-130)", async () => {
  const answer = await edit("one\ntwo\nthree\n", "two", "2");
  expect(answer).toMatchObject({ stopReason: "completed", deltas: 1 });
  expect(answer.text).toBe(
    "Replaced 1 occurrence(s) in f.txt\n--- a/f.txt\n+++ b/f.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three",
  );
  expect(answer.after.toString()).toBe("one\n2\nthree\n");
  expect(answer.details).toMatchObject({ sha256: sha256("one\n2\nthree\n"), replacements: 1 });
});

test("absolute paths work; the diff names the file as seen from the workspace (PT-112, PT-113)", async () => {
  const workspace = await fileWorkspace();
  const outside = await fileWorkspace();
  await workspace.write("src/a.txt", "a\n");
  await outside.write("b.txt", "a\n");
  const args = { old_string: "a", new_string: "b" };
  const inside = await workspace.run(editFile, { file_path: workspace.path("src/a.txt"), ...args });
  expect(inside.text).toContain("--- a/src/a.txt\n+++ b/src/a.txt\n");
  expect(inside.details.path).toBe(workspace.path("src/a.txt"));
  const other = await workspace.run(editFile, { file_path: outside.path("b.txt"), ...args });
  expect(other.text).toContain(`--- a${outside.path("b.txt")}\n`);
  expect(await outside.text("b.txt")).toBe("b\n");
});

test("several matches are a failure that leaves the file alone (PT-125)", async () => {
  const answer = await edit("a\na\na\n", "a", "b");
  expect(answer).toMatchObject({
    stopReason: "failed",
    text:
      "cannot edit f.txt: old_string occurs 3 times, and nothing was replaced; " +
      "add the lines around the right place to old_string, or set replace_all to change every one",
  });
  expect(answer.after.toString()).toBe("a\na\na\n");
});

test("more than 100,000 matches are not replaced, whether all were meant or one (PT-125, PT-127)", async () => {
  const content = "a b\n".repeat(100_001);
  const one = await edit(content, " ", "_");
  expect(one.text).toBe(
    "cannot edit f.txt: old_string occurs more than 100,000 times, and nothing was replaced; " +
      "add the lines around the right place to old_string",
  );
  const all = await edit(content, " ", "_", { replace_all: true });
  expect(all.text).toBe(
    "cannot edit f.txt: old_string occurs more than 100,000 times, and nothing was replaced; " +
      "change so many places with the shell (sed, perl)",
  );
  expect(all.after.toString()).toBe(content);
  const most = await edit(content.slice(4), " ", "_", { replace_all: true });
  expect(most.text).toContain("Replaced 100000 occurrence(s)");
});

test("an edit whose result would be over 256 MiB is refused before it is made", async () => {
  const answer = await edit("a".repeat(1_000), "a", "b".repeat(300_000), { replace_all: true });
  expect(answer.text).toBe(
    "cannot edit f.txt: the file would grow to 286 MiB, over 256 MiB; change it with the shell (sed, perl)",
  );
  expect(answer.after.toString()).toBe("a".repeat(1_000));
});

test("an interruption that comes while the text is sought is heard before anything is written", async () => {
  const controller = new AbortController();
  const indexOf = vi.spyOn(Buffer.prototype, "indexOf");
  onTestFinished(() => indexOf.mockRestore());
  indexOf.mockImplementationOnce(function (this: Buffer, text) {
    setImmediate(() => controller.abort());
    return this.toString("latin1").indexOf(String(text));
  });
  const workspace = await fileWorkspace();
  await workspace.write("a", "x");
  const args = { file_path: "a", old_string: "x", new_string: "y" };
  expect((await workspace.run(editFile, args, { signal: controller.signal })).text).toBe(
    "cannot edit a: interrupted; nothing was written",
  );
  expect(await workspace.text("a")).toBe("x");
});

test("no match is a failure that shows the nearest lines and leaves the file alone (PT-125, PT-126)", async () => {
  const answer = await edit("if (x) {\n\treturn 1;\n}\n", "if (x) {\n    return 1;\n}", "y");
  expect(answer).toMatchObject({
    stopReason: "failed",
    text:
      "cannot edit f.txt: old_string was not found; nearest lines:\n" +
      "     1\tif (x) {\n     2\t\treturn 1;\n     3\t}\n" +
      "first difference in line 2, column 1: the file has a tab (U+0009), old_string has a space (U+0020)",
  });
  expect(answer.after.toString()).toBe("if (x) {\n\treturn 1;\n}\n");
});

test("the line numbers of read_file inside old_string are recognised", async () => {
  expect((await edit("alpha\nbeta\n", "     2\tbeta", "b")).text).toContain(
    "old_string was not found; it begins with a line number of read_file, which is not part of the file; nearest lines:",
  );
});

test("curly quotes do not match straight ones, and nothing else is touched (case edit-fuzzy-does-not-spread)", async () => {
  const content = 'title = “Plan” — v1\nnote\u00a0here   \nname = "Ann"\n';
  const answer = await edit(content, "name = “Ann”", 'name = "Bob"');
  expect(answer.stopReason).toBe("failed");
  expect(answer.text).toContain('line 3, column 8: the file has " (U+0022), old_string has “ (U+201C)');
  expect(answer.after.toString()).toBe(content);
});

test("replace_all replaces every occurrence and counts them (PT-127, PT-129)", async () => {
  const answer = await edit("a b a\nc\na\n", "a", "x", { replace_all: true });
  expect(answer.text).toMatch(/^Replaced 3 occurrence\(s\) in f\.txt\n/);
  expect(answer.after.toString()).toBe("x b x\nc\nx\n");
});

test("many replacements show a few hunks and the number of the others (PT-131, PT-132)", async () => {
  const content = Array.from({ length: 20 }, () => `X\n${"-\n".repeat(9)}`).join("");
  const answer = await edit(content, "X", "Y", { replace_all: true });
  expect(answer.text.match(/^@@/gm)).toHaveLength(5);
  expect(answer.text.endsWith("\n…and 15 more replacements")).toBe(true);
});

test("with a tiny output the count stands and the diff is left out", async () => {
  const workspace = await fileWorkspace();
  await workspace.write("f.txt", "a\n");
  const args = { file_path: "f.txt", old_string: "a", new_string: "b" };
  expect((await workspace.run(editFile, args, { maxOutputLength: 60 })).text).toBe(
    "Replaced 1 occurrence(s) in f.txt\n[diff left out: it does not fit the output]",
  );
});

test("an empty old_string is refused, with and without replace_all (case edit-empty-old-string)", async () => {
  for (const replace_all of [false, true]) {
    const answer = await edit("k=v\n", "", "#", { replace_all });
    expect(answer).toMatchObject({
      stopReason: "failed",
      text: "cannot edit f.txt: old_string is empty; to create a file or replace its whole content use write_file",
    });
    expect(answer.after.toString()).toBe("k=v\n");
  }
});

test("equal strings are a failure (PT-128)", async () => {
  expect(await edit("a\n", "a", "a")).toMatchObject({
    stopReason: "failed",
    text: "cannot edit f.txt: old_string and new_string are equal, so nothing would change",
  });
});

test("a missing file is a failure and is not created (PT-115, PT-124)", async () => {
  const workspace = await fileWorkspace();
  const answer = await workspace.run(editFile, { file_path: "new/a.txt", old_string: "a", new_string: "b" });
  expect(answer).toMatchObject({
    stopReason: "failed",
    text: `cannot edit new/a.txt: ${workspace.path("new/a.txt")} does not exist; ${workspace.dir} is empty`,
  });
  expect(await readdir(workspace.dir)).toEqual([]);
});

test("an empty file and wrong arguments are failures (PT-115, PT-123)", async () => {
  expect((await edit("", "a", "b")).text).toBe("cannot edit f.txt: old_string was not found; the file is empty");
  const workspace = await fileWorkspace();
  await workspace.write("f.txt", "a");
  expect((await workspace.run(editFile, { file_path: "f.txt", old_string: "a", new_string: null })).text).toBe(
    "cannot edit f.txt: new_string must be a string, got null",
  );
});

test("a named pipe is refused at once (case read-fifo)", async () => {
  const workspace = await fileWorkspace();
  execFileSync("mkfifo", [workspace.path("live.pipe")]);
  const answer = await workspace.run(editFile, { file_path: "live.pipe", old_string: "a", new_string: "b" });
  expect(answer).toMatchObject({ stopReason: "failed" });
  expect(answer.text).toContain("it is a named pipe (FIFO), not a regular file");
});

test("only the edited line of a file with mixed endings changes (case edit-mixed-eol)", async () => {
  expect((await edit("one\r\ntwo\nthree\r\nfour", "three", "3")).after.toString()).toBe("one\r\ntwo\n3\r\nfour");
});

test("dollar signs are written literally (case edit-dollar-patterns)", async () => {
  const now = `echo $$ $& $1 $\` $' $\{x}$`;
  for (const replace_all of [false, true]) {
    const { after } = await edit("BEFORE\nSLOT\nAFTER\n", "SLOT", now, { replace_all });
    expect(after.toString()).toBe(`BEFORE\n${now}\nAFTER\n`);
  }
});

test("a byte order mark and accented text survive (case edit-bom-kept)", async () => {
  expect((await edit("\ufeffname = café\nmode = 1\n", "mode = 1", "mode = 2")).after.toString()).toBe(
    "\ufeffname = café\nmode = 2\n",
  );
});

test("bytes that are not UTF-8 are kept elsewhere in the file (case edit-latin1-elsewhere)", async () => {
  const latin1 = (limit: number): Buffer => Buffer.from(`# r\xe9sum\xe9\nlimit = ${limit}\n# fin d\xfcrr\n`, "latin1");
  const { after } = await edit(latin1(10), "limit = 10", "limit = 12");
  expect(after.equals(latin1(12))).toBe(true);
});

test("a text with a character that the file has in another encoding is told so", async () => {
  const { text } = await edit(Buffer.from("caf\xe9 au lait\n", "latin1"), "café au lait", "tea");
  expect(text).toContain("the file has \ufffd (U+FFFD, or a byte that is not UTF-8), old_string has é (U+00E9)");
});

test("a text with LF matches CRLF, and the inserted lines end in CRLF (case edit-crlf-multiline)", async () => {
  const answer = await edit("if (a) {\r\n  go();\r\n}\r\nend\r\n", "if (a) {\n  go();\n}", "if (b) {\n  stop();\n}");
  expect(answer.stopReason).toBe("completed");
  expect(answer.after.toString()).toBe("if (b) {\r\n  stop();\r\n}\r\nend\r\n");
});

test("a text with LF that matches several places across CRLF is ambiguous too (PT-125)", async () => {
  expect((await edit("a\r\nb\r\na\r\nb\r\n", "a\nb", "c")).text).toContain("old_string occurs 2 times");
});

test("a new text that is what stands there already is a failure", async () => {
  expect((await edit("a\r\nb\r\n", "a\nb", "a\r\nb")).text).toBe(
    "cannot edit f.txt: new_string is what stands there already, so nothing would change",
  );
});

test("UTF-16 is refused, also where the bytes of the text stand in it by chance", async () => {
  const little = Buffer.from("\ufeffabc \u6261\n", "utf16le");
  const unmarked = Buffer.from("abc abc\n", "utf16le");
  for (const content of [little, unmarked].flatMap((bytes) => [bytes, Buffer.from(bytes).swap16()])) {
    for (const old of ["abc", "a", "ab", "\n"]) {
      const answer = await edit(content, old, "xyz");
      expect(answer.text).toBe(
        "cannot edit f.txt: the file is UTF-16, which edit_file cannot change; " +
          "use the shell (iconv to UTF-8, edit, iconv back)",
      );
      expect(answer.after.equals(content)).toBe(true);
    }
  }
});

test("eight edits of one file at once all land, time and again (case edit-parallel-same-file)", async () => {
  const workspace = await fileWorkspace();
  for (let round = 0; round < 20; round++) {
    await workspace.write("n.txt", Array.from({ length: 200 }, (_, i) => `${i + 1}\n`).join(""));
    const answers = await Promise.all(
      [10, 30, 50, 70, 90, 110, 130, 150].map((n) =>
        workspace.run(editFile, { file_path: "n.txt", old_string: `\n${n}\n`, new_string: `\nN${n}\n` }),
      ),
    );
    expect(answers.map((answer) => answer.stopReason)).toEqual(Array(8).fill("completed"));
    const lines = (await workspace.text("n.txt")).split("\n");
    expect(lines.filter((line) => line.startsWith("N"))).toHaveLength(8);
    expect(lines).toHaveLength(201);
  }
});

test("a link is written through and stays a link (case edit-symlink-written-through)", async () => {
  const workspace = await fileWorkspace();
  await workspace.write("real/doc.md", "port 80\n");
  await symlink("real/doc.md", workspace.path("link.md"));
  await workspace.run(editFile, { file_path: "link.md", old_string: "port 80", new_string: "port 8080" });
  expect((await lstat(workspace.path("link.md"))).isSymbolicLink()).toBe(true);
  expect(await workspace.text("real/doc.md")).toBe("port 8080\n");
});

test("the mode of a script is kept (case edit-exec-bit-kept)", async () => {
  const workspace = await fileWorkspace();
  await workspace.write("go.sh", "#!/bin/sh\necho v1\n");
  await chmod(workspace.path("go.sh"), 0o751);
  await workspace.run(editFile, { file_path: "go.sh", old_string: "v1", new_string: "v2" });
  expect((await stat(workspace.path("go.sh"))).mode & 0o7777).toBe(0o751);
  expect(execFileSync(workspace.path("go.sh")).toString()).toBe("v2\n");
});

test("details say when a file with several links was written in place", async () => {
  const workspace = await fileWorkspace();
  await workspace.write("a", "v1\n");
  await link(workspace.path("a"), workspace.path("b"));
  const { details } = await workspace.run(editFile, { file_path: "a", old_string: "v1", new_string: "v2" });
  expect(details.inPlace).toBe("hard links");
  expect(await workspace.text("b")).toBe("v2\n");
});

test("edits through two hard links of one file all land, and none counts as a change from outside", async () => {
  const workspace = await fileWorkspace();
  const numbers = Array.from({ length: 40 }, (_, i) => i + 10);
  await workspace.write("a", numbers.map((n) => `${n}\n`).join(""));
  await link(workspace.path("a"), workspace.path("b"));
  await workspace.run(readFile, { file_path: "a" });
  const answers = await Promise.all(
    numbers.map((n, i) =>
      workspace.run(editFile, { file_path: i % 2 ? "a" : "b", old_string: `${n}\n`, new_string: `N${n}\n` }),
    ),
  );
  expect(answers.filter(({ stopReason, text }) => stopReason !== "completed" || text.includes("had changed"))).toEqual(
    [],
  );
  expect(await workspace.text("b")).toBe(numbers.map((n) => `N${n}\n`).join(""));
  expect((await workspace.run(writeFile, { file_path: "a", content: "new" })).stopReason).toBe("completed");
});

test("a change from outside is kept and told; own edits do not count as one (case edit-changed-since-read)", async () => {
  const workspace = await fileWorkspace();
  const run = (old_string: string, new_string: string): Promise<Answer> =>
    workspace.run(editFile, { file_path: "s.txt", old_string, new_string });
  await workspace.write("s.txt", "alpha\nbeta\n");
  await workspace.run(readFile, { file_path: "s.txt" });
  await workspace.write("s.txt", "alpha\nbeta\nuser line\n");
  expect((await run("alpha", "ALPHA")).text).toContain(
    "Replaced 1 occurrence(s) in s.txt\n[the file had changed since this session last saw it]\n--- a/s.txt",
  );
  expect((await run("beta", "BETA")).text).toMatch(/^Replaced 1 occurrence\(s\) in s\.txt\n---/);
  expect((await run("BETA", "Beta")).stopReason).toBe("completed");
  expect(await workspace.text("s.txt")).toBe("ALPHA\nBeta\nuser line\n");
});

test("in a file changed from outside, a match that is not exact and unique is refused with both hashes", async () => {
  const workspace = await fileWorkspace();
  await workspace.write("s.txt", "a\n");
  await workspace.run(readFile, { file_path: "s.txt" });
  for (const [content, args] of [
    ["a\na\n", { old_string: "a", new_string: "b", replace_all: true }],
    ["a\r\nb\r\n", { old_string: "a\nb", new_string: "c" }],
  ] as const) {
    await workspace.write("s.txt", content);
    expect(await workspace.run(editFile, { file_path: "s.txt", ...args })).toMatchObject({
      stopReason: "failed",
      text:
        `cannot edit s.txt: the file changed since this session last saw it: its sha256 was ${sha256("a\n")}, ` +
        `now it is ${sha256(content)}; read the file again and try once more`,
    });
    expect(await workspace.text("s.txt")).toBe(content);
  }
});

test("expected_sha256 is honoured", async () => {
  expect((await edit("a\n", "a", "b", { expected_sha256: sha256("a\n").toUpperCase() })).stopReason).toBe("completed");
  const refused = await edit("a\n", "a", "b", { expected_sha256: "abc" });
  expect(refused.text).toBe(
    `cannot edit f.txt: expected_sha256 is "abc", which is no SHA-256, but it is ${sha256("a\n")}; read the file again and try once more`,
  );
  expect(refused.after.toString()).toBe("a\n");
});

test("an interrupted edit writes nothing", async () => {
  const workspace = await fileWorkspace();
  await workspace.write("a", "x");
  const args = { file_path: "a", old_string: "x", new_string: "y" };
  expect((await workspace.run(editFile, args, { signal: AbortSignal.abort() })).stopReason).toBe("failed");
  expect(await workspace.text("a")).toBe("x");
});

test("a file over 64 MiB is left to the shell", async () => {
  const workspace = await fileWorkspace();
  await truncate(await workspace.write("big", ""), 65 * 1024 * 1024);
  expect((await workspace.run(editFile, { file_path: "big", old_string: "a", new_string: "b" })).text).toBe(
    "cannot edit big: the file is over 64 MiB; edit it with the shell (sed, perl)",
  );
});

test("protected files are refused", async () => {
  const workspace = await fileWorkspace();
  const path = await workspace.write("vault.yaml", "KEY: 1");
  const args = { file_path: "Vault.yaml", old_string: "1", new_string: "2" };
  const { text } = await workspace.run(editFile, args, { protectedPaths: [path] });
  expect(text).toContain("it holds the harness's own secrets");
});

test("the summary shows path, sizes and both texts shortened; paths are declared; the risk is filesystem", async () => {
  const workspace = await fileWorkspace();
  const tool = editFile.create(editFile.definition, {
    workspaceDir: workspace.dir,
    toolConfig: { customTools: [], mcpServers: [] },
  });
  const args = { file_path: "a.txt", old_string: "old\ntext", new_string: "n\n".repeat(12) };
  expect(await tool.approvalSummary?.(args, { workspaceDir: workspace.dir })).toBe(
    [
      "edit a.txt: replace a text (8 -> 24 characters)",
      "- old",
      "- text",
      ...Array(10).fill("+ n"),
      "+ … 2 more lines",
    ].join("\n"),
  );
  expect(tool.risk).toBe("filesystem");
  expect(tool.paths?.(args)).toEqual({ read: ["a.txt"], write: ["a.txt"] });
});

test("what write_file wrote can be edited, and the reverse, without a read between", async () => {
  const workspace = await fileWorkspace();
  await workspace.run(writeFile, { file_path: "a", content: "one\n" });
  expect((await workspace.run(editFile, { file_path: "a", old_string: "one", new_string: "two" })).text).not.toContain(
    "had changed",
  );
  expect((await workspace.run(writeFile, { file_path: "a", content: "three\n" })).stopReason).toBe("completed");
});
