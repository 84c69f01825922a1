import { createHash } from "node:crypto";
import { mkdir, open, readdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type ToolsetCalls, toolsetCalls } from "../../../../test/support/toolset-calls.ts";

const sha256 = (content: string | Uint8Array): string => createHash("sha256").update(content).digest("hex");

async function withFile(content: string | Uint8Array): Promise<ToolsetCalls> {
  const calls = await toolsetCalls("strict");
  await writeFile(join(calls.dir, "f"), content);
  return calls;
}

test("read answers with the text and a last line that says which bytes of how many it is (PE-005, PE-006)", async () => {
  const { dir, call } = await withFile("one\ntwo\nthree");
  expect(await call("read", { path: "f" })).toEqual({
    output: "one\ntwo\nthree\n[bytes 0–13 of 13]",
    stopReason: "completed",
    details: {
      path: join(dir, "f"),
      sha256: sha256("one\ntwo\nthree"),
      bytes: { start: 0, end: 13, total: 13 },
      truncated: false,
    },
  });
  expect(await call("read", { path: "f", offset: 4, limit: 4 })).toMatchObject({
    output: "two\n[bytes 4–8 of 13]",
    details: { truncated: true },
  });
});

test("without a limit 65536 bytes are shown, with the largest one 262144, whole (PE-005, PE-006)", async () => {
  const { call } = await withFile("x".repeat(300_000));
  expect((await call("read", { path: "f" })).output).toBe(`${"x".repeat(65_536)}\n[bytes 0–65536 of 300000]`);
  const { output } = await call("read", { path: "f", offset: 10_000, limit: 262_144 });
  expect(output).toBe(`${"x".repeat(262_144)}\n[bytes 10000–272144 of 300000]`);
});

test("an empty file has no bytes, an offset at the end shows none, and one past it is an error", async () => {
  const { call, dir } = await withFile("abc");
  await writeFile(join(dir, "empty"), "");
  expect((await call("read", { path: "empty" })).output).toBe("[bytes 0–0 of 0]");
  expect((await call("read", { path: "f", offset: 3 })).output).toBe("[bytes 3–3 of 3]");
  expect(await call("read", { path: "f", offset: 4 })).toMatchObject({
    output: "cannot read f: offset 4 is past the end; the file has 3 bytes",
    stopReason: "failed",
  });
});

test.for([
  [{}, "path: is required and missing"],
  [{ path: 7 }, "path: must be a string, got 7"],
  [{ path: "f", limit: 262_145 }, "limit: must be <= 262144, got 262145"],
  [{ path: "f", limit: 0 }, "limit: must be >= 1, got 0"],
  [{ path: "f", offset: -1 }, "offset: must be >= 0, got -1"],
  [{ path: "f", offset: 1.5 }, "offset: must be an integer, got 1.5"],
  ["[1]", "the arguments of read must be a JSON object, got [1]; send the call again with one JSON object"],
  ["{", "the arguments of read are not JSON"],
] as const)("%j is an argument error (PE-001, PE-004, PE-005)", async ([args, problem]) => {
  const { assess, call } = await withFile("abc");
  expect((await assess("read", args)).error).toContain(problem);
  const { output, stopReason } = await call("read", args);
  expect([output.includes(problem), stopReason]).toEqual([true, "failed"]);
});

test("an edge inside a character is an error that names the nearest bytes between characters (PE-007)", async () => {
  const { call } = await withFile("aé€😀z");
  const problem = async (offset: number, limit: number): Promise<string> =>
    (await call("read", { path: "f", offset, limit })).output;
  const nearest = "inside a character; the nearest places between characters are";
  expect(await problem(2, 1)).toBe(`cannot read f: the range begins at byte 2, ${nearest} 1 and 3`);
  expect(await problem(0, 5)).toBe(`cannot read f: the range ends at byte 5, ${nearest} 3 and 6`);
  expect(await problem(4, 5)).toBe(
    `cannot read f: the range begins at byte 4, ${nearest} 3 and 6; the range ends at byte 9, ${nearest} 6 and 10`,
  );
  expect(await problem(7, 1)).toContain("6 and 10; the range ends at byte 8");
  expect(await problem(3, 3)).toBe("€\n[bytes 3–6 of 11]");
});

test("a byte that is not UTF-8 is an error that names it, UTF-16 and a file that ends inside a character too (PE-007)", async () => {
  const advice = "look at the file with bash (file, iconv, xxd)";
  const problem = async (content: Uint8Array, offset = 0): Promise<string> =>
    (await (await withFile(content)).call("read", { path: "f", offset })).output;
  expect(await problem(Buffer.from("caf\xe9 au lait", "latin1"))).toBe(
    `cannot read f: byte 3 (0xe9) is not UTF-8; ${advice}`,
  );
  expect(await problem(Buffer.from("ab\xff\xfecd", "latin1"), 1)).toContain("byte 2 (0xff) is not UTF-8;");
  expect(await problem(Buffer.from("\ufeffhi", "utf16le"))).toBe(
    `cannot read f: byte 0 (0xff) is not UTF-8, and the file begins as UTF-16 does; ${advice}`,
  );
  expect(await problem(Buffer.from("a€").subarray(0, 3))).toContain("byte 1 (0xe2) is not UTF-8;");
  expect(await problem(Buffer.from([0xed, 0xa0, 0x80]))).toContain("byte 0 (0xed) is not UTF-8;");
});

test("a byte order mark, carriage returns and NUL characters are shown as they are", async () => {
  const { call } = await withFile("\ufeffa\r\n\0b\n");
  expect((await call("read", { path: "f" })).output).toBe("\ufeffa\r\n\0b\n[bytes 0–9 of 9]");
});

test("ranges, each going on where the last one ended, give the whole file, and a cut character says where to end", async () => {
  const { dir, call } = await toolsetCalls("strict");
  const texts = fc.string({ unit: "grapheme", minLength: 1, maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(texts, fc.integer({ min: 4, max: 20 }), async (text, limit) => {
      await writeFile(join(dir, "f"), text);
      const total = Buffer.byteLength(text);
      let whole = "";
      for (let offset = 0; offset < total; ) {
        let answer = await call("read", { path: "f", offset, limit });
        const [, before] = /are (\d+) and/.exec(answer.stopReason === "failed" ? answer.output : "") ?? [];
        if (before) answer = await call("read", { path: "f", offset, limit: Number(before) - offset });
        const { end } = answer.details.bytes as { end: number };
        const note = `[bytes ${offset}–${end} of ${total}]`;
        expect(answer.output.endsWith(note)).toBe(true);
        const shown = answer.output.slice(0, -note.length);
        whole += Buffer.byteLength(shown) > end - offset ? shown.slice(0, -1) : shown;
        offset = end;
      }
      expect(whole).toBe(text);
    }),
    { numRuns: 40 },
  );
});

test("of a giant file only the range is read", async () => {
  const { dir, call } = await toolsetCalls("strict");
  const file = await open(join(dir, "giant"), "w");
  const size = 20 * 1024 ** 3;
  await file.write("end", size - 3);
  await file.close();
  const answer = await call("read", { path: "giant", offset: size - 3 });
  expect(answer).toMatchObject({ output: `end\n[bytes ${size - 3}–${size} of ${size}]`, stopReason: "completed" });
  expect(answer.details).not.toHaveProperty("sha256");
});

const OUT = "the path leads out of the workspace";

test.for([
  ["/etc/passwd", "the path is absolute; give it relative to the workspace"],
  ["../x", OUT],
  ["sub/../../x", OUT],
  ["..", OUT],
  ["out", `${OUT}, to /etc/passwd; only files in the workspace can be used`],
  ["etc/passwd", `${OUT}, to /etc/passwd`],
  ["dangling", `${OUT}, to /nowhere/x`],
  ["chain", `${OUT}, to /etc/passwd`],
  ["a\0b", "the path holds a NUL character"],
  ["\ud800", "the path holds half a character"],
] as const)(
  "the path %j is refused when the call is assessed, and again when it runs (PE-004)",
  async ([path, problem]) => {
    const { dir, assess, call, environment } = await toolsetCalls("strict");
    await mkdir(join(dir, "sub"));
    await symlink("/etc/passwd", join(dir, "out"));
    await symlink("/etc", join(dir, "etc"));
    await symlink("/nowhere/x", join(dir, "dangling"));
    await symlink("out", join(dir, "chain"));
    for (const [name, more] of [
      ["read", {}],
      ["write", { content: "x", mode: "create" }],
    ] as const) {
      const args = { path, ...more };
      expect(await assess(name, args)).toMatchObject({
        error: expect.stringContaining(`${name} was not run: ${problem}`),
      });
      const assessment = { args, risk: "read_only", summary: "", executionMode: "parallel" } as const;
      const { output, stopReason } = await call(name, args, { assessment });
      expect([output, stopReason]).toEqual([expect.stringMatching(new RegExp(`^cannot ${name} `)), "failed"]);
      expect(output).toContain(problem);
    }
    expect(environment.toolPermission("read")).toBe("r");
  },
);

test("whatever path is given, nothing outside of the workspace is read or written (PE-004, PE-018)", async () => {
  const { dir, call } = await toolsetCalls("strict");
  const outside = await toolsetCalls("strict");
  await mkdir(join(dir, "sub"));
  await writeFile(join(dir, "sub/f"), "inside");
  await writeFile(join(outside.dir, "f"), "OUTSIDE");
  await symlink(outside.dir, join(dir, "out"));
  await symlink(join(outside.dir, "new"), join(dir, "sub/dangling"));
  await symlink("../out", join(dir, "sub/up"));
  const names = ["..", ".", "", "sub", "f", "new", "out", "up", "dangling", basename(dir), basename(outside.dir)];
  const paths = fc.array(fc.constantFrom(...names), { minLength: 1, maxLength: 6 }).map((parts) => parts.join("/"));
  await fc.assert(
    fc.asyncProperty(paths, fc.constantFrom("create", "replace"), async (path, mode) => {
      expect((await call("read", { path })).output).not.toContain("OUTSIDE");
      await call("write", { path, content: "inside", mode });
    }),
    { numRuns: 150 },
  );
  expect(await readdir(outside.dir)).toEqual(["f"]);
  expect(await readFile(join(outside.dir, "f"), "utf8")).toBe("OUTSIDE");
});

test("paths inside are read, by links and past .. as well; names that only look like .. are names (PE-004)", async () => {
  const { dir, call } = await withFile("abc");
  await mkdir(join(dir, "sub"));
  await symlink(join(dir, "f"), join(dir, "sub/link"));
  await writeFile(join(dir, "..f"), "abc");
  for (const path of ["f", "./f", "sub/../f", "sub/link", "..f"]) {
    expect((await call("read", { path })).output).toBe("abc\n[bytes 0–3 of 3]");
  }
});

test("a directory that is replaced by a link after the call was assessed leads nowhere (PE-004)", async () => {
  const { dir, assess, call } = await toolsetCalls("strict");
  await mkdir(join(dir, "sub"));
  await writeFile(join(dir, "sub/passwd"), "mine");
  const assessment = await assess("read", { path: "sub/passwd" });
  await rename(join(dir, "sub"), join(dir, "old"));
  await symlink("/etc", join(dir, "sub"));
  const { output } = await call("read", { path: "sub/passwd" }, { assessment });
  expect(output).toMatch(/^cannot read sub\/passwd: the path (now )?leads/);
});

test("a read is read_only, and filesystem where the path looks like that of a secret, also behind a link (PE-008, PE-009)", async () => {
  const { dir, assess } = await withFile("abc");
  await writeFile(join(dir, ".env"), "KEY=1");
  await symlink(".env", join(dir, "settings"));
  expect(await assess("read", { path: "f", offset: 1 })).toMatchObject({
    risk: "read_only",
    summary: "read f, bytes 1–65537",
    paths: { read: [join(dir, "f")] },
  });
  expect((await assess("read", { path: ".env" })).risk).toBe("filesystem");
  expect(await assess("read", { path: "settings" })).toMatchObject({
    risk: "filesystem",
    summary: `read settings -> ${join(dir, ".env")}, bytes 0–65536`,
  });
});

test("a missing file, a directory and a missing directory are told as what they are", async () => {
  const { dir, call } = await withFile("abc");
  expect((await call("read", { path: "g" })).output).toBe(
    `cannot read g: ${dir}/g does not exist; nearest in ${dir}: f`,
  );
  expect((await call("read", { path: "" })).output).toContain("it is a directory, not a file");
  expect((await call("read", { path: "a/b" })).output).toContain(`${dir}/a/b does not exist; nearest in ${dir}: f`);
  expect((await call("read", { path: "f/b" })).output).toContain(`${dir}/f is a file, not a directory`);
});

test("protected files are refused before anyone is asked, and the workspace may be reached by a link", async () => {
  const { dir } = await withFile("abc");
  const link = `${dir}-link`;
  await symlink(dir, link);
  const protectedPaths = [join(dir, "secret.yaml")];
  await writeFile(protectedPaths[0] ?? "", "SECRET");
  const { assess, call } = await toolsetCalls("strict", { workspaceDir: link, protectedPaths });
  for (const [name, more] of [
    ["read", {}],
    ["write", { content: "x", mode: "replace" }],
  ] as const) {
    const { error, summary } = await assess(name, { path: "secret.yaml", ...more });
    expect([error?.includes("it holds the harness's own secrets"), summary.includes("SECRET")]).toEqual([true, false]);
  }
  expect((await call("read", { path: "f" })).output).toBe("abc\n[bytes 0–3 of 3]");
  expect((await call("read", { path: "secret.yaml" })).output).toContain("it holds the harness's own secrets");
  await rm(link);
});
