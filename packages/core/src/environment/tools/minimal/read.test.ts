import { expect, expectTypeOf, test } from "vitest";
import { callAgentTool } from "../../../../test/support/agent-tool-call.ts";
import { fileWorkspace } from "../../../../test/support/file-workspace.ts";
import { SAMPLE_IMAGES } from "../../../../test/support/sample-images.ts";
import { toBuiltinTool } from "../../adapt-agent-tool.ts";
import { createReadTool, type ReadDetails, read } from "./read.ts";

const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==",
  "base64",
);

const lines = (count: number): string => Array.from({ length: count }, (_, i) => `line ${i + 1}\n`).join("");

test("a path gives the text as it is, without line numbers (PI-030, PI-032)", async () => {
  const { dir, write } = await fileWorkspace();
  await write("src/app.ts", "import React from 'react';\n\tx\n");
  const tool = createReadTool({ cwd: dir });
  expect(await callAgentTool(tool, { path: "src/app.ts" })).toMatchObject({
    text: "import React from 'react';\n\tx\n",
    details: { path: "src/app.ts", linesRead: 2 },
    isError: false,
  });
  await write("open.txt", "no feed");
  expect((await callAgentTool(tool, { path: `${dir}/open.txt` })).text).toBe("no feed");
  expectTypeOf<Parameters<typeof tool.execute>[1]>().toEqualTypeOf<{
    path: string;
    startLine?: number;
    endLine?: number;
  }>();
});

test("startLine and endLine count from 1 and are both included; details count the lines (PI-031, PI-038)", async () => {
  const { dir, write } = await fileWorkspace();
  await write("src/app.ts", lines(60));
  const tool = createReadTool({ cwd: dir });
  const head = await tool.execute("read_456", { path: "src/app.ts", startLine: 1, endLine: 50 });
  expect(head.details).toEqual({ path: "src/app.ts", linesRead: 50 });
  expect(head.content).toEqual([{ type: "text", text: lines(50).trimEnd() }]);
  expect((await callAgentTool(tool, { path: "src/app.ts", startLine: 2, endLine: 2 })).text).toBe("line 2");
  expect((await callAgentTool(tool, { path: "src/app.ts", startLine: 59 })).text).toBe("line 59\nline 60\n");
  expect((await callAgentTool(tool, { path: "src/app.ts", startLine: 60, endLine: 99 })).text).toBe("line 60");
});

test.for([
  [{ path: "a.txt", startLine: 4 }, "cannot read a.txt: startLine 4 is past the end; the file has 3 lines"],
  [
    { path: "a.txt", startLine: 3, endLine: 2 },
    "cannot read a.txt: endLine 2 comes before startLine 3; give the smaller one first",
  ],
  [{ path: "a.txt", startLine: 1.5 }, "cannot read a.txt: startLine must be a whole number, got 1.5"],
  [{ path: "b.txt" }, "b.txt does not exist; nearest in"],
  [{ path: "." }, "cannot read .: it is a directory"],
  [{ path: "a\0" }, "cannot read a␀: the path holds a NUL character"],
  [{}, "cannot read: path must be a string, got nothing"],
  [{ path: "bin" }, "cannot read bin: it is a binary file"],
] as const)("%j is an error result that says why", async ([params, text]) => {
  const { dir, write } = await fileWorkspace();
  await write("a.txt", lines(3));
  await write("bin", Buffer.from([1, 0, 2]));
  const result = await callAgentTool(createReadTool({ cwd: dir }), params);
  expect(result.text).toContain(text);
  expect(result.isError).toBe(true);
});

test("an empty file is said to be empty", async () => {
  const { dir, write } = await fileWorkspace();
  await write("a.txt", "");
  expect((await callAgentTool(createReadTool({ cwd: dir }), { path: "a.txt" })).text).toBe("[the file is empty]");
});

test("maxSize refuses a larger file, maxLines cuts and says where to go on (PI-034, PI-035, PI-039)", async () => {
  const { dir, write } = await fileWorkspace();
  await write("small.txt", "123456789\n");
  await write("large.txt", "1234567890\n");
  await write("many.txt", "a\nb\nc\n");
  const tool = createReadTool({ cwd: dir, maxSize: 10, maxLines: 2, maxTotalSize: 1000 });
  expect((await callAgentTool(tool, { path: "small.txt" })).isError).toBe(false);
  expect(await callAgentTool(tool, { path: "large.txt" })).toMatchObject({
    text: "cannot read large.txt: it has 11 bytes, over the limit of 10; look at a part of it with bash",
    isError: true,
  });
  expect(await callAgentTool(tool, { path: "many.txt" })).toMatchObject({
    text: "a\nb\n[lines 1-2 of 3; go on with startLine: 3]",
    details: { path: "many.txt", linesRead: 2 },
  });
});

test("maxTotalSize limits what one tool object reads over all files; a refused read takes nothing (PI-036)", async () => {
  const { dir, write } = await fileWorkspace();
  await write("six.txt", "12345\n");
  await write("four.txt", "123\n");
  const tool = createReadTool({ cwd: dir, maxTotalSize: 10 });
  expect((await callAgentTool(tool, { path: "six.txt" })).isError).toBe(false);
  expect(await callAgentTool(tool, { path: "six.txt" })).toMatchObject({
    text: "cannot read six.txt: with it, 12 bytes would have been read, over the limit of 10 for all files together; read fewer lines",
    isError: true,
  });
  expect((await callAgentTool(tool, { path: "four.txt" })).isError).toBe(false);
  expect((await callAgentTool(tool, { path: "four.txt" })).isError).toBe(true);
  expect((await callAgentTool(createReadTool({ cwd: dir, maxTotalSize: 10 }), { path: "four.txt" })).isError).toBe(
    false,
  );
});

test("an image comes back as an image block, told by its content (PI-033)", async () => {
  const { dir, write } = await fileWorkspace();
  for (const [mimeType, bytes] of Object.entries(SAMPLE_IMAGES)) {
    await write("picture.txt", bytes);
    const { content, details } = await callAgentTool(createReadTool({ cwd: dir }), { path: "picture.txt" });
    expect(content).toEqual([{ type: "image", mimeType, data: bytes.toString("base64") }]);
    expect(details).toEqual({ path: "picture.txt", linesRead: 0 });
  }
  await write("huge.png", Buffer.concat([PNG, Buffer.alloc(5 * 1024 * 1024)]));
  expect((await callAgentTool(createReadTool({ cwd: dir }), { path: "huge.png" })).text).toContain("over 5 MiB");
  await write("cut.png", PNG.subarray(0, 40));
  expect((await callAgentTool(createReadTool({ cwd: dir }), { path: "cut.png" })).text).toContain("breaks off");
});

test("imageProcessor is given the image, and the block it resolves to is the result (PI-037)", async () => {
  const { dir, write } = await fileWorkspace();
  await write("a.png", PNG);
  const described = createReadTool({
    cwd: dir,
    maxSize: 1024 * 1024,
    maxLines: 5000,
    imageProcessor: async (buffer) => ({ type: "text", text: `Image of ${buffer.length} bytes` }),
  });
  expect((await callAgentTool(described, { path: "a.png" })).content).toEqual([
    { type: "text", text: `Image of ${PNG.length} bytes` },
  ]);
  const smaller = createReadTool({
    cwd: dir,
    imageProcessor: () => ({ type: "image", mimeType: "image/gif", data: "AA==" }),
  });
  expect((await callAgentTool(smaller, { path: "a.png" })).content).toEqual([
    { type: "image", mimeType: "image/gif", data: "AA==" },
  ]);
  const broken = createReadTool({ cwd: dir, imageProcessor: () => Promise.reject(new Error("no decoder")) });
  expect(await callAgentTool(broken, { path: "a.png" })).toMatchObject({
    text: "cannot read a.png: no decoder",
    isError: true,
  });
});

test("other encodings and line endings are said", async () => {
  const { dir, write } = await fileWorkspace();
  await write("wide.txt", Buffer.from("\ufeffa\n", "utf16le"));
  await write("crlf.txt", "a\r\nb\r\n");
  await write("latin.txt", Buffer.from([0x61, 0xe9, 0x0a]));
  await write("marked.txt", "\ufeffa\n");
  const text = async (path: string): Promise<string> =>
    (await callAgentTool(createReadTool({ cwd: dir }), { path })).text;
  expect(await text("wide.txt")).toBe("a\n[decoded from UTF-16LE]");
  expect(await text("crlf.txt")).toBe("a\nb\n[lines end in CRLF; the carriage returns are not shown]");
  expect(await text("marked.txt")).toBe("a\n[the file begins with a UTF-8 byte order mark, which is not shown]");
  expect(await text("latin.txt")).toContain("[bytes that are not UTF-8 are shown as U+FFFD");
});

test.for([{ maxSize: 0 }, { maxLines: -1 }, { maxTotalSize: Number.NaN }])("the option %j is refused", (options) => {
  expect(() => createReadTool(options)).toThrow(`${Object.keys(options)[0]} must be a number above 0, got`);
});

test("in the toolset the output keeps to its limit, and the content is remembered", async () => {
  const workspace = await fileWorkspace();
  await workspace.write("a.txt", lines(1000));
  const { text, details } = await workspace.run(read, { path: "a.txt" }, { maxOutputLength: 1000 });
  expect(text.length).toBeLessThanOrEqual(1000);
  expect(text).toMatch(/\nline 63\n\[lines 1-63 of 1000; go on with startLine: 64\]$/);
  expect(details).toMatchObject({ path: "a.txt", linesRead: 63, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) });
  const secret = await workspace.run(read, { path: "a.txt" }, { protectedPaths: [workspace.path("a.txt")] });
  expect(secret.text).toContain("the harness's own secrets");
});

test("a read is asked about by what it reads, from the tool's own directory", async () => {
  const { dir } = await fileWorkspace();
  const tool = toBuiltinTool(createReadTool({ cwd: dir }));
  const elsewhere = { workspaceDir: "/" };
  expect(tool.paths?.({ path: "a.txt" })).toEqual({ read: [`${dir}/a.txt`] });
  expect(await tool.approvalSummary?.({ path: "a.txt", endLine: 5 }, elsewhere)).toBe("read a.txt, lines 1 to 5");
  expect(await tool.approvalSummary?.({ path: "a.txt" }, elsewhere)).toBe("read a.txt, from line 1");
  expect(await tool.assessRisk?.({ path: "a.txt" }, elsewhere)).toBe("read_only");
  expect(await tool.assessRisk?.({ path: ".env" }, elsewhere)).toBe("filesystem");
  expectTypeOf<ReadDetails["linesRead"]>().toEqualTypeOf<number>();
});
