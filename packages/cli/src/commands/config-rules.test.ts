import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { fakeIo } from "../../test/support/fake-io.ts";
import { rookery } from "../rookery.ts";

let root = "";
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "rookery-test-"));
});
afterAll(() => rm(root, { recursive: true }));

async function config(...argv: string[]): Promise<{ code: number; out: string; err: string }> {
  const io = fakeIo({ cwd: "/", env: { ROOKERY_HOME: root } });
  const code = await rookery(["config", ...argv], io);
  return { code, out: io.out(), err: io.err() };
}

test("rules are added, listed as they were added, and removed", async () => {
  expect((await config("rules", "list")).err).toContain("no rules are stored");
  expect(await config("rules", "add", "allow", "command", "git log")).toMatchObject({
    code: 0,
    out: "stored allow command 'git log'\n",
  });
  await config("rules", "add", "deny", "path", "**/*.pem", "--access", "read", "--workspace", "srv");
  await config("rules", "add", "deny", "tool", "write_file");
  expect((await config("rules", "list")).out).toBe(
    "allow command 'git log'\ndeny path '**/*.pem' --access read --workspace /srv\ndeny tool write_file\n",
  );
  expect(JSON.parse((await config("rules", "list", "--output", "json")).out)).toEqual([
    { allow: { command: "git log" } },
    { deny: { path: "**/*.pem", access: "read" }, workspace: "/srv" },
    { deny: { tool: "write_file" } },
  ]);
  expect((await config("rules", "remove", "deny", "tool", "write_file")).out).toBe("removed deny tool write_file\n");
  expect(await config("rules", "remove", "deny", "tool", "write_file")).toMatchObject({
    code: 2,
    err: expect.stringContaining("the project has no rule deny tool write_file"),
  });
  expect(await readFile(join(root, "default_project", "project_config.yaml"), "utf8")).not.toContain("write_file");
});

test.each([
  [["rules", "add", "permit", "tool", "x"], 'EFFECT does not know "permit"'],
  [["rules", "add", "allow", "file", "x"], 'KIND does not know "file"'],
  [["rules", "add", "allow", "tool", "x", "--access", "read"], "--access goes with a path, not with a tool"],
  [["rules", "add", "allow", "command", "rm *"], 'needs plain words as its command, got "rm *"'],
  [["rules", "add", "allow", "command"], "missing required argument 'VALUE'"],
])("%j is a usage error", async (argv, message) => {
  const { code, err } = await config(...argv);
  expect([code, err]).toEqual([2, expect.stringContaining(message)]);
});

test("check prints the decision, who takes it and which rule, and says it by its exit code", async () => {
  await config("rules", "add", "allow", "command", "git status", "--workspace", "/srv");
  await config("rules", "add", "deny", "command", "touch");
  const check = (command: string, ...flags: string[]) => config("rules", "check", command, ...flags);
  expect(await check("git log -1")).toEqual({ code: 0, out: "allow: rule: allow command 'git log'\n", err: "" });
  expect(await check("git log && touch x")).toMatchObject({ code: 1, out: "deny: rule: deny command touch\n" });
  expect(await check("rm -rf x")).toMatchObject({
    code: 1,
    out: "deny: policy: rm-recursive-force (rm that deletes directories without asking)\n",
  });
  expect(await check("ls")).toMatchObject({ code: 3, out: "ask: no rule covers all of it\n" });
  expect(await check("git log > x")).toMatchObject({
    code: 3,
    out: "ask: no rule can allow it: it holds a redirection\n",
  });
  expect(await check("git status")).toMatchObject({ code: 3 });
  expect(await check("git status", "--workspace", "/srv")).toMatchObject({ code: 0 });
  expect(JSON.parse((await check("touch x", "--output", "json")).out)).toEqual({
    decision: "deny",
    decided_by: "rule",
    reason: "deny command touch",
  });
});

test("the policy in force is listed, the factory's nine where the project has none", async () => {
  expect(JSON.parse((await config("policy", "list", "--output", "json")).out)).toHaveLength(9);
  expect((await config("policy", "list")).out).toContain("mkfs: a new file system over what a device holds\n    ");
});
