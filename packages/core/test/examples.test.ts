import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { promisify } from "node:util";
import { build, type PluginBuild } from "esbuild";
import { afterAll, beforeAll, expect, test } from "vitest";

const root = resolve(import.meta.dirname, "../../..");
const files = readdirSync(join(root, "examples"));

// Below the repository, where the packages that the built examples import are found.
const built = mkdtempSync(join(root, "node_modules", ".examples-"));

beforeAll(async () => {
  await build({
    entryPoints: files.map((file) => join(root, "examples", file)),
    outdir: built,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node20",
    conditions: ["rookery-source"],
    plugins: [{ name: "packages-as-they-are", setup: leavePackages }],
  });
});

afterAll(() => rmSync(built, { recursive: true, force: true }));

// The tools of 13 to 16 are the third seed's: 13 weather (PI-054, PI-055, PI-057), 14 backup (PI-058, PI-059, PI-060, PI-083), 15 API
// (PI-061, PI-062, PI-063, PI-064, PI-065), 16 deploy (PI-066, PI-067, PI-069); they use network and files (PI-088).
// Through the public entries alone, 03 gives an ApproveFn (PC-109), 05 a model (PC-105) and 06 an environment (PC-107).
test.concurrent.each(files)(
  "the example %s finds what it says, ends with exit code 0 and says nothing on standard error",
  async (file) => {
    const program = join(built, `${basename(file, ".ts")}.mjs`);
    // Nothing else of the caller's: no key, no data directory, no colours.
    const { PATH, HOME, TMPDIR } = process.env;
    const env = { PATH, HOME, TMPDIR };
    // Rejects for any other exit code, with what was printed.
    const { stderr } = await promisify(execFile)(process.execPath, [program], { cwd: root, env });
    expect(stderr).toBe("");
  },
  // All of them start at once.
  60_000,
);

test("examples import nothing but Node's own modules, the public entries of the package, and TypeBox for schemas", () => {
  const entries = ["", "/omnimessage", "/pi", "/testing"].map((entry) => `@rookery/core${entry}`);
  const allowed = [...entries, "typebox"];
  for (const file of files) {
    const imported = [...read(`examples/${file}`).matchAll(/(?:from|import) "([^"]+)"/g)].map(([, name = ""]) => name);
    expect(imported.filter((name) => !name.startsWith("node:") && !allowed.includes(name))).toEqual([]);
    expect(imported).not.toEqual([]);
  }
});

test("the program in the README is the heart of the first example", () => {
  const [, program = ""] = /```ts\n(.*?)```/s.exec(read("README.md")) ?? [];
  // The example gives `createAgent` what takes the place of a model and of the data directory.
  const lines = program.split("\n").filter((line) => line !== "" && !line.includes("createAgent("));
  const example = read("examples/01-hello.ts").split("\n");
  expect(lines).toHaveLength(9);
  expect(example.filter((line) => lines.includes(line))).toEqual(lines);
});

function leavePackages(builder: PluginBuild): void {
  builder.onResolve({ filter: /^[^./]/ }, ({ path }) =>
    path.startsWith("@rookery/") ? undefined : { external: true },
  );
}

function read(file: string): string {
  return readFileSync(join(root, file), "utf8");
}
