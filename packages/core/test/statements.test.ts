import { spawnSync } from "node:child_process";
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";

const script = resolve(import.meta.dirname, "../../../scripts/statements.mjs");
// Spelled apart, so that the real page does not take these for its own.
const id = (seed: string, number: string): string => `${seed}-${number}`;
const [one, two, three] = [id("PT", "001"), id("PT", "002"), id("PC", "001")];

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "rookery-statements-"));
  await put("docs/seed-statements.md", [
    `## PT: First\n\n### Tools\n\n- **${one}** Reads a file. (Design)\n- **${two}** Is explained. [doc] (Design)`,
    `## PC: Second\n\n### Core\n\n- **${three}** Has three parts. (Overview)\n`,
  ]);
  await put("docs/statement-notes.json", ['{ "fallsAway": {}, "departures": [] }']);
  await put("scripts/.keep", []);
  await mkdir(join(root, "packages"));
  await copyFile(script, join(root, "scripts/statements.mjs"));
});
afterEach(() => rm(root, { recursive: true }));

test("the page lists each statement with the titles that carry its id", async () => {
  await put("packages/a/src/read.test.ts", [`test("a file is read (${one}, ${three})", () => {});`]);
  await put("packages/a/test/deep/more.test.ts", [`test.each([[")"]])(\n  "%s is read (${one})",\n  () => {},\n);`]);
  expect(run()).toEqual({ status: 0, out: ["3 statements: 2 proven, 1 without a proof, 0 fallen away"], err: "" });
  const page = await readFile(join(root, "docs/statements.md"), "utf8");
  expect(page).toContain(
    `## PT: First\n\n### Tools\n\n- **${one}** Reads a file. (Design)\n` +
      `  - \`packages/a/src/read.test.ts\`: a file is read (${one}, ${three})\n` +
      `  - \`packages/a/test/deep/more.test.ts\`: %s is read (${one})\n` +
      `- **${two}** Is explained. [doc] (Design)\n  - No proof yet.\n`,
  );
});

test("an id in a comment belongs to the test right below it, or else to the test it stands in", async () => {
  await put("packages/a/src/a.test.ts", [
    'test("first", () => {',
    `  expect(1).toBe(1); // ${one}`,
    "});",
    `// ${two}`,
    "// and why",
    'test.each([1])("second", () => {});',
    "function helper() {",
    `  // ${three}`,
    "}",
  ]);
  run();
  const page = await readFile(join(root, "docs/statements.md"), "utf8");
  expect(page.match(/\.test\.ts`: .*/g)).toEqual([".test.ts`: first", ".test.ts`: second", ".test.ts`: second"]);
});

test("an id in other text of a test file proves nothing", async () => {
  await put("packages/a/src/a.test.ts", [`test("first", () => { read("${one}"); });`]);
  expect(run().out).toEqual(["3 statements: 0 proven, 3 without a proof, 0 fallen away"]);
});

test("a page proves a statement marked [doc], and no other", async () => {
  await put("docs/tools.md", ["# Tools", "## Reading", `How it works (${two}, ${one}).`]);
  expect(run().out).toEqual(["3 statements: 1 proven, 2 without a proof, 0 fallen away"]);
  expect(await readFile(join(root, "docs/statements.md"), "utf8")).toContain("  - `docs/tools.md`: Reading\n");
});

test("reasons of statements that fall away and of departures stand in the page", async () => {
  const departure = { ids: [three], seed: "three parts", rookery: "four parts", reason: "one more" };
  await put("docs/statement-notes.json", [
    JSON.stringify({ fallsAway: { [one]: "no files here" }, departures: [departure] }),
  ]);
  expect(run().out).toEqual(["3 statements: 0 proven, 2 without a proof, 1 fallen away"]);
  const page = await readFile(join(root, "docs/statements.md"), "utf8");
  expect(page).toContain("  - Falls away: no files here\n");
  expect(page).toContain("(Overview)\n  - See [Departures](#departures).\n  - No proof yet.\n");
  expect(page).toContain(`| ${three} | three parts | four parts | one more |\n`);
});

test("an id that no statement has is an error, and the page stays as it was", async () => {
  const unknown = id("PE", "999");
  await put("packages/a/src/a.test.ts", [`test("a (${unknown})", () => {});`]);
  expect(run()).toEqual({
    status: 1,
    out: [],
    err: `\`packages/a/src/a.test.ts\`: a (${unknown}): no statement is called ${unknown}\n`,
  });
  await expect(readFile(join(root, "docs/statements.md"))).rejects.toThrow("ENOENT");
});

test("--check writes nothing and fails until the page is current", async () => {
  const stale = "docs/statements.md is not current; run: npm run statements\n";
  expect(run("--check")).toMatchObject({ status: 1, err: stale });
  run();
  expect(run("--check")).toMatchObject({ status: 0, err: "" });
  await put("packages/a/src/a.test.ts", [`test("a (${one})", () => {});`]);
  expect(run("--check")).toMatchObject({ status: 1, err: stale });
});

test("--missing lists the statements without a proof, by seed", () => {
  expect(run("--missing", "PC,PE").out.slice(1)).toEqual([`${three} Has three parts. (Overview)`]);
  expect(
    run("--missing")
      .out.slice(1)
      .map((line) => line.slice(0, 6)),
  ).toEqual([one, two, three]);
});

async function put(file: string, lines: readonly string[]): Promise<void> {
  await mkdir(dirname(join(root, file)), { recursive: true });
  await writeFile(join(root, file), lines.join("\n"));
}

function run(...args: string[]): { status: number | null; out: string[]; err: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, "scripts/statements.mjs"), ...args], {
    encoding: "utf8",
  });
  return { status, out: stdout.split("\n").filter((line) => line !== ""), err: stderr };
}
