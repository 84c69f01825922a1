import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmod, link, mkdir, symlink } from "node:fs/promises";
import { createServer } from "node:net";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { becomeOrdinaryUser } from "../../../test/support/become-ordinary-user.ts";
import { driveTool } from "../../../test/support/drive-tool.ts";
import { type FileWorkspace, fileWorkspace } from "../../../test/support/file-workspace.ts";
import { readFile } from "./read-file.ts";
import { writeFile } from "./write-file.ts";

const MiB = 1024 * 1024;
const numbers = (count: number): string => Array.from({ length: count }, (_, i) => `${i + 1}\n`).join("");
const sha256 = (content: string | Uint8Array): string => createHash("sha256").update(content).digest("hex");

/** A fresh workspace with one file, and the answer to reading it. */
async function read(
  content: string | Uint8Array,
  args: Record<string, unknown> = {},
  options?: Parameters<FileWorkspace["run"]>[2],
): Promise<{ text: string; stopReason: string | undefined; details: Record<string, unknown>; deltas: number }> {
  const workspace = await fileWorkspace();
  await workspace.write("f.txt", content);
  return await workspace.run(readFile, { file_path: "f.txt", ...args }, options);
}

test("read_file ships with permission r, 30000 ms and an output of 64000 characters (PT-006)", () => {
  expect(readFile.definition).toMatchObject({
    name: "read_file",
    permission: "r",
    timeoutMs: 30_000,
    maxOutputLength: 64_000,
    parameters: { required: ["file_path"] },
  });
  expect(Object.keys(Object(readFile.definition.parameters?.properties))).toEqual(["file_path", "offset", "limit"]);
});

test("lines come as number, tab and text, in one delta (PT-114, PT-117)", async () => {
  const answer = await read("one\n\n  three\n");
  expect(answer).toMatchObject({ stopReason: "completed", deltas: 1 });
  expect(answer.text).toBe("     1\tone\n     2\t\n     3\t  three");
});

test("relative and absolute paths both work, and details tell the real path and the hash (PT-112, PT-113)", async () => {
  const workspace = await fileWorkspace();
  await workspace.write("real/a.txt", "x\n");
  await symlink("real/a.txt", workspace.path("link.txt"));
  for (const path of ["link.txt", workspace.path("real/a.txt")]) {
    const answer = await workspace.run(readFile, { file_path: path });
    expect(answer.text).toBe("     1\tx");
    expect(answer.details).toEqual({
      path: workspace.path("real/a.txt"),
      sha256: sha256("x\n"),
      lines: { first: 1, last: 1 },
    });
  }
});

test("offset and limit choose the window, and a note says where to go on (PT-118, PT-119, PT-120)", async () => {
  expect((await read(numbers(10), { offset: 4, limit: 2 })).text).toBe(
    "     4\t4\n     5\t5\n[lines 4-5 of 10; go on with offset: 6]",
  );
  expect((await read(numbers(10), { offset: 9 })).text).toBe("     9\t9\n    10\t10");
});

test("without offset and limit the first 2000 lines are shown (PT-118, PT-119, PT-120)", async () => {
  const { text } = await read(numbers(2001));
  expect(text.split("\n").slice(-2)).toEqual(["  2000\t2000", "[lines 1-2000 of 2001; go on with offset: 2001]"]);
});

test("an offset or limit below 1 counts as 1, and one that is no whole number is an error", async () => {
  expect((await read(numbers(3), { offset: 0, limit: -5 })).text).toBe(
    "     1\t1\n[lines 1-1 of 3; go on with offset: 2]",
  );
  expect(await read(numbers(3), { offset: "abc" })).toMatchObject({
    stopReason: "failed",
    text: 'cannot read f.txt: offset must be a whole number, got "abc"',
  });
});

test("the last line is readable without a final newline (case read-last-line-no-newline)", async () => {
  expect((await read("red\ngreen\nblue", { offset: 3, limit: 1 })).text).toBe("     3\tblue");
});

test("an offset past the end names the number of lines and not an empty file (case read-offset-past-end)", async () => {
  expect(await read(numbers(5), { offset: 100 })).toMatchObject({
    stopReason: "failed",
    text: "cannot read f.txt: offset 100 is past the end; the file has 5 lines",
  });
  expect((await read("one", { offset: 2 })).text).toBe(
    "cannot read f.txt: offset 2 is past the end; the file has 1 line",
  );
});

test("an empty file is said to be empty, whatever the offset (case read-empty-file)", async () => {
  expect(await read("", { offset: 7 })).toMatchObject({ stopReason: "completed", text: "[f.txt is empty (0 bytes)]" });
});

test("an overlong line is cut by code points and says how long it is (PT-121, case read-one-huge-line)", async () => {
  const { text } = await read(`${"x".repeat(4_000_000)}\nsecond line\n`);
  expect(text).toBe(`     1\t${"x".repeat(2000)}… [line truncated: 4000000 bytes in all]\n     2\tsecond line`);
  expect((await read("😀".repeat(2001))).text).toBe(
    `     1\t${"😀".repeat(2000)}… [line truncated: 8004 bytes in all]`,
  );
  expect((await read("😀".repeat(2000))).text).toBe(`     1\t${"😀".repeat(2000)}`);
  expect((await read(`${"x".repeat(2000)}\r\n`)).text).not.toContain("truncated");
});

test("NUL bytes make a file binary, wherever they are (PT-122)", async () => {
  for (const content of ["\0", `${numbers(100_000)}\0`]) {
    expect(await read(content)).toMatchObject({
      stopReason: "failed",
      text:
        "cannot read f.txt: it is a binary file (it holds a NUL byte); look into it with the shell (file, xxd, " +
        "strings), or show it with an image tool if it is an image",
    });
  }
});

test("UTF-16 with a byte order mark is shown as text (case read-utf16-bom)", async () => {
  const little = Buffer.from("\ufeffhé\nok\n", "utf16le");
  expect((await read(little)).text).toBe("     1\thé\n     2\tok\n[decoded from UTF-16LE]");
  expect((await read(Buffer.from(little).swap16())).text).toBe("     1\thé\n     2\tok\n[decoded from UTF-16BE]");
});

test("UTF-16 without a byte order mark is refused as what it looks like (PT-122)", async () => {
  const little = Buffer.from("some text\nand é\n", "utf16le");
  const refused = (encoding: string): string =>
    `cannot read f.txt: it is binary, and looks like ${encoding} without a byte order mark; ` +
    `use the shell (iconv -f ${encoding} -t UTF-8)`;
  expect(await read(little)).toMatchObject({ stopReason: "failed", text: refused("UTF-16LE") });
  expect((await read(Buffer.from(little).swap16())).text).toBe(refused("UTF-16BE"));
});

test("UTF-32 is refused as binary", async () => {
  expect((await read(Buffer.from([0xff, 0xfe, 0, 0, 0x61, 0, 0, 0]))).stopReason).toBe("failed");
});

test("bytes that are not UTF-8 are shown as U+FFFD with a note, a real U+FFFD has none", async () => {
  expect((await read(Buffer.from("caf\xe9\nb\n", "latin1"))).text).toBe(
    "     1\tcaf\ufffd\n     2\tb\n[bytes that are not UTF-8 are shown as U+FFFD (\ufffd); edit_file keeps them as they are]",
  );
  expect((await read("odd \ufffd but fine\n")).text).toBe("     1\todd \ufffd but fine");
});

test("a UTF-8 byte order mark and carriage returns are not shown but noted", async () => {
  expect((await read("\ufeffa\r\nb\r\n")).text).toBe(
    "     1\ta\n     2\tb\n[the file begins with a UTF-8 byte order mark, which is not shown]\n" +
      "[lines end in CRLF; the carriage returns are not shown]",
  );
});

test("a CRLF and a character that lie across two chunks stay whole", async () => {
  const chunk = 256 * 1024;
  const crlf = await read(`${"x".repeat(chunk - 1)}\r\nb\n`, { offset: 2 });
  expect(crlf.text).toBe("     2\tb");
  const split = await read(`${"x\n".repeat(chunk / 2 - 1)}x😀\r\n`, { offset: chunk / 2 });
  expect(split.text).toBe(
    `${String(chunk / 2).padStart(6)}\tx😀\n[lines end in CRLF; the carriage returns are not shown]`,
  );
});

test("a file of 8 MiB can be read to its last line (PT-058)", async () => {
  for (const bytes of [8 * MiB - 1, 8 * MiB]) {
    const content = `${"0123456789abcde\n".repeat(MiB / 2 - 1)}${"y".repeat(bytes - 8 * MiB + 16)}`;
    expect(content.length).toBe(bytes);
    const answer = await read(content, { offset: MiB / 2 });
    expect(answer.text).toBe(`${MiB / 2}\t${"y".repeat(bytes - 8 * MiB + 16)}`);
    expect(answer.details.sha256).toBe(sha256(content));
  }
});

test("of a longer file at most 8 MiB are scanned, and the rest is left to the shell (PT-058)", async () => {
  const workspace = await fileWorkspace();
  await workspace.write("my log", "0123456789abcde\n".repeat(MiB / 2 + 10));
  const inside = await workspace.run(readFile, { file_path: "my log", offset: 3, limit: 1 });
  expect(inside.text).toBe(
    "     3\t0123456789abcde\n[lines 3-3 of at least 524288 (only the first 8 MiB were scanned); go on with offset: 4]",
  );
  expect(inside.details).not.toHaveProperty("sha256");
  expect((await workspace.run(readFile, { file_path: "my log", offset: 524_288 })).text).toBe(
    "524288\t0123456789abcde\n" +
      "[lines 524288-524288 of at least 524288 (only the first 8 MiB were scanned); use the shell for what follows]",
  );
  expect(await workspace.run(readFile, { file_path: "my log", offset: 524_289 })).toMatchObject({
    stopReason: "failed",
    text:
      "cannot read my log: line 524289 is not within the first 8 MiB, which hold 524288 lines; " +
      "use the shell, for example: tail -n +524289 'my log' | head -c 20000",
  });
});

test("of a line longer than the scan the beginning is shown (PT-058, PT-121)", async () => {
  const shown = `${"x".repeat(2000)}… [line truncated: at least 8388608 bytes in all]`;
  const note = (lines: string, count: number): string =>
    `[lines ${lines} of at least ${count} (only the first 8 MiB were scanned); use the shell for what follows]`;
  expect((await read(Buffer.alloc(9 * MiB, "x"))).text).toBe(`     1\t${shown}\n${note("1-1", 1)}`);
  const second = Buffer.concat([Buffer.from("a\n"), Buffer.alloc(9 * MiB, "x")]);
  expect((await read(second, { offset: 2 })).text).toBe(
    `     2\t${shown.replace("8388608", "8388606")}\n${note("2-2", 2)}`,
  );
  expect((await read(second, { limit: 1 })).text).toContain("go on with offset: 2]");
  expect((await read(second, { offset: 3 })).text).toContain(
    "line 3 is not within the first 8 MiB, which hold 2 lines;",
  );
});

test("what a session may overwrite after a read is what was there, however much of it was shown (PT-134)", async () => {
  const workspace = await fileWorkspace();
  const write = async (): Promise<string> =>
    (await workspace.run(writeFile, { file_path: "f.txt", content: "new" })).text;
  const grown = Buffer.alloc(9 * MiB, "line\n");
  const outOfReach = Buffer.concat([grown, Buffer.from("other end\n")]);
  const binary = Buffer.from([1, 0, 2]);
  const huge = Buffer.alloc(65 * MiB, "line\n");
  for (const content of [grown, binary, huge]) {
    await workspace.write("f.txt", "small");
    await workspace.run(readFile, { file_path: "f.txt" });
    await workspace.write("f.txt", content);
    expect(await write()).toContain("the file changed since this session last saw it");
    await workspace.run(readFile, { file_path: "f.txt" });
    expect(await write()).toContain("Overwrote f.txt");
  }
  await workspace.write("f.txt", grown);
  await workspace.run(readFile, { file_path: "f.txt" });
  await workspace.write("f.txt", outOfReach);
  expect(await write()).toContain("the file changed since this session last saw it");
});

test("the window ends where its note still fits the configured output (PT-046, PT-120)", async () => {
  const content = `${"y".repeat(90)}\n`.repeat(50);
  for (const maxOutputLength of [150, 400, 1000, 4000]) {
    const { text, details } = await read(content, {}, { maxOutputLength });
    const last = (details.lines as { last: number }).last;
    expect(text.length).toBeLessThanOrEqual(maxOutputLength);
    expect(text.endsWith(`[lines 1-${last} of 50; go on with offset: ${last + 1}]`)).toBe(true);
    expect(text.length + 98).toBeGreaterThan(maxOutputLength);
  }
  expect((await read(content, {}, { maxOutputLength: 0 })).text.split("\n")).toHaveLength(50);
});

test("of a first line that does not fit the configured output, the beginning is shown (PT-121)", async () => {
  const { text } = await read(`${"y".repeat(500)}\nz\n`, {}, { maxOutputLength: 120 });
  expect(text).toHaveLength(120);
  expect(text).toMatch(/^ {5}1\ty+… \[line truncated\]\n\[lines 1-1 of 2; go on with offset: 2\]$/);
});

test("windows, one after another, give the whole file (PT-046, PT-117, PT-120)", async () => {
  const workspace = await fileWorkspace();
  const line = fc.string({ unit: fc.constantFrom("a", "\t", "é", "😀", " "), maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(
      fc.array(line, { minLength: 1, maxLength: 60 }),
      fc.integer({ min: 1, max: 9 }),
      async (lines, limit) => {
        await workspace.write("f.txt", `${lines.join("\n")}\n`);
        const seen: string[] = [];
        for (let offset: number | undefined = 1; offset !== undefined; ) {
          const { text } = await workspace.run(
            readFile,
            { file_path: "f.txt", offset, limit },
            { maxOutputLength: 160 },
          );
          const next: string | undefined = /go on with offset: (\d+)\]$/.exec(text)?.[1];
          for (const [, number, content] of text.matchAll(/^ *(\d+)\t(.*)$/gm)) {
            expect(Number(number)).toBe(seen.length + 1);
            seen.push(content ?? "");
          }
          offset = next === undefined ? undefined : Number(next);
        }
        expect(seen).toEqual(lines);
      },
    ),
    { numRuns: 30 },
  );
});

test("a missing file is a failure with the nearest names, not an exception (PT-115)", async () => {
  const workspace = await fileWorkspace();
  await workspace.write("src/index.ts", "");
  expect(await workspace.run(readFile, { file_path: "src/indx.ts" })).toEqual({
    stopReason: "failed",
    text: `cannot read src/indx.ts: ${workspace.path("src/indx.ts")} does not exist; nearest in ${workspace.path("src")}: index.ts`,
    details: {},
    deltas: 1,
  });
});

test("directories, pipes, devices and sockets are refused at once (case read-fifo)", async () => {
  const workspace = await fileWorkspace();
  await mkdir(workspace.path("dir"));
  execFileSync("mkfifo", [workspace.path("live.pipe")]);
  const server = createServer().listen(workspace.path("sock"));
  await new Promise((resolve) => server.once("listening", resolve));
  onTestFinished(() => void server.close());
  const answer = async (path: string): Promise<string> => (await workspace.run(readFile, { file_path: path })).text;
  expect(await answer("dir")).toBe(
    "cannot read dir: it is a directory, not a file; name a file in it, or list it with the shell",
  );
  expect(await answer("live.pipe")).toBe(
    "cannot read live.pipe: it is a named pipe (FIFO), not a regular file; use the shell if you have to work with it",
  );
  expect(await answer("/dev/null")).toBe(
    "cannot read /dev/null: it is a device, not a regular file; use the shell if you have to work with it",
  );
  expect(await answer("sock")).toContain("not a regular file");
});

test("odd paths are failures that say why (PT-115, PT-116)", async () => {
  const workspace = await fileWorkspace();
  await workspace.write("plain", "x");
  await symlink("loop", workspace.path("loop"));
  const answer = async (args: Record<string, unknown>): Promise<string> => (await workspace.run(readFile, args)).text;
  expect(await answer({})).toBe("cannot read: file_path must be a string, got nothing");
  expect(await answer({ file_path: 5 })).toBe("cannot read: file_path must be a string, got 5");
  expect(await answer({ file_path: "a\0b" })).toBe("cannot read a␀b: the path holds a NUL character; give it without");
  expect(await answer({ file_path: "plain/x" })).toBe(
    `cannot read plain/x: ${workspace.path("plain")} is a file, not a directory`,
  );
  expect(await answer({ file_path: "loop" })).toBe("cannot read loop: too many symbolic links encountered (ELOOP)");
  expect(await answer({ file_path: "x".repeat(5000) })).toMatch(/: name too long \(ENAMETOOLONG\)$/);
  expect(await answer({ file_path: "" })).toContain("it is a directory");
});

test("an unreadable file is told by the system's own reason", async () => {
  const workspace = await fileWorkspace();
  await chmod(await workspace.write("a", "x"), 0o000);
  becomeOrdinaryUser(workspace.dir);
  expect((await workspace.run(readFile, { file_path: "a" })).text).toBe("cannot read a: permission denied (EACCES)");
});

test("an interrupted read is a failure", async () => {
  expect(await read("x", {}, { signal: AbortSignal.abort() })).toMatchObject({
    stopReason: "failed",
    text: "cannot read f.txt: interrupted while the file was read",
  });
});

test("a read is read_only, and filesystem for a secret-like path, also behind a link", async () => {
  const workspace = await fileWorkspace();
  await workspace.write(".env", "KEY=1");
  await symlink(".env", workspace.path("plain.txt"));
  await symlink("missing.txt", workspace.path("id_rsa"));
  const tool = readFile.create(readFile.definition, {
    workspaceDir: workspace.dir,
    toolConfig: { customTools: [], mcpServers: [] },
  });
  const risk = (path: string): unknown => tool.assessRisk?.({ file_path: path }, { workspaceDir: workspace.dir });
  expect(tool.risk).toBe("read_only");
  expect(await risk("a.txt")).toBe("read_only");
  expect(await risk(".ENV")).toBe("filesystem");
  expect(await risk("plain.txt")).toBe("filesystem");
  expect(await risk("id_rsa")).toBe("filesystem");
});

test("the summary names the path, where it leads, and the lines; paths are declared", async () => {
  const workspace = await fileWorkspace();
  await workspace.write("a.txt", "x");
  await symlink("a.txt", workspace.path("link"));
  const tool = readFile.create(readFile.definition, {
    workspaceDir: workspace.dir,
    toolConfig: { customTools: [], mcpServers: [] },
  });
  const place = { workspaceDir: workspace.dir };
  expect(await tool.approvalSummary?.({ file_path: "a.txt" }, place)).toBe("read a.txt, lines 1 to 2000");
  expect(await tool.approvalSummary?.({ file_path: "link", offset: 5, limit: 2 }, place)).toBe(
    `read link -> ${workspace.path("a.txt")}, lines 5 to 6`,
  );
  expect(tool.paths?.({ file_path: "a.txt" })).toEqual({ read: ["a.txt"] });
  // Without shared services the tool keeps a memory of its own.
  expect((await driveTool(tool, { file_path: "a.txt" }, place)).text).toBe("     1\tx");
});

test("protected files are refused by name without case, by links of both kinds, and inside a protected directory", async () => {
  const workspace = await fileWorkspace();
  await workspace.write("state/vault.yaml", "KEY: 1");
  await workspace.write("keys/a", "KEY");
  await symlink("state/vault.yaml", workspace.path("link"));
  await link(workspace.path("state/vault.yaml"), workspace.path("hard"));
  const options = { protectedPaths: [workspace.path("state/vault.yaml"), workspace.path("keys")] };
  for (const path of ["state/vault.yaml", "state/VAULT.yaml", "link", "hard", "keys/a"]) {
    const { text, stopReason } = await workspace.run(readFile, { file_path: path }, options);
    expect({ text, stopReason }).toEqual({
      stopReason: "failed",
      text: `cannot read ${path}: it holds the harness's own secrets, which no file tool may touch; work without it`,
    });
  }
  await workspace.write("keys2", "x");
  expect((await workspace.run(readFile, { file_path: "keys2" }, options)).stopReason).toBe("completed");
});
