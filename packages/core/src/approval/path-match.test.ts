import { mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { allowingRules, denyingRule } from "./match-rules.ts";
import { exactGlob, pathMatches } from "./path-match.ts";
import type { ApprovalRule } from "./rule.ts";

const W = "/no-such-place/app";

test.each([
  ["src/**", "src/a.ts", true],
  ["src/**", "src/.hidden/a", true],
  ["src/**", "lib/src/a.ts", false],
  ["src/**", "../src/a.ts", false],
  ["**/*.pem", "a/b.pem", true],
  ["**/*.pem", "../keys/b.pem", true],
  ["secrets/", "secrets/a/b", true],
  ["secrets", "secrets/a", false],
  ["/no-such-place/**", "src/a.ts", true],
  ["/no-such-place/other/*", "../other/a", true],
  ["outside-workspace", "../app-evil/n.txt", true],
  ["outside-workspace", "..", true],
  ["outside-workspace", "a/..b", false],
  ["outside-workspace", "", false],
])("%j and the path %j match: %s", (pattern, path, expected) => {
  expect(pathMatches(pattern, join(W, path), W)).toBe(expected);
});

test("a ~ stands for the home directory", () => {
  expect(pathMatches("~/.ssh/**", join(homedir(), ".ssh/id"), W)).toBe(true);
  expect(pathMatches("~/.ssh/**", join(W, ".ssh/id"), W)).toBe(false);
});

test("a workspace that is reached by a link is the place it leads to", () => {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), "rookery-test-")));
  const link = `${directory}-link`;
  symlinkSync(directory, link);
  try {
    expect(pathMatches("outside-workspace", join(directory, "a"), link)).toBe(false);
    expect(pathMatches("a", join(directory, "a"), link)).toBe(true);
    const rules: ApprovalRule[] = [{ allow: { tool: "t" }, workspace: link }];
    expect(allowingRules(rules, { tool: "t", workspace: directory })).toEqual(rules);
  } finally {
    rmSync(link);
    rmSync(directory, { recursive: true });
  }
});

test("the exact pattern of a path matches it and no other", () => {
  const name = fc
    .string({ unit: fc.constantFrom(..."ab .*?[]{}()!+@|\"'~^$,#\n-é語".split("")), minLength: 1, maxLength: 8 })
    .filter((text) => text !== "." && text !== "..");
  fc.assert(
    fc.property(name, name, (a, b) => {
      if (a !== b) expect(pathMatches(exactGlob(a) ?? "", join(W, b), W)).toBe(false);
      expect(pathMatches(exactGlob(a) ?? "", join(W, a), W)).toBe(true);
      expect(pathMatches(exactGlob(join("/x", a)) ?? "", join("/x", a), W)).toBe(true);
    }),
    { numRuns: 1000 },
  );
});

const paths = (read: string[], write: string[]) => ({
  tool: "t",
  workspace: W,
  paths: { read: read.map((path) => join(W, path)), write: write.map((path) => join(W, path)) },
});

test("an access is that of the rule; without one a rule speaks of both", () => {
  const reads: ApprovalRule[] = [{ deny: { path: "a", access: "read" } }];
  expect(denyingRule(reads, paths(["a"], []))).toBeDefined();
  expect(denyingRule(reads, paths([], ["a"]))).toBeUndefined();
  expect(denyingRule([{ deny: { path: "a" } }], paths([], ["a"]))).toBeDefined();
});

test("every path of a call has to be allowed, and a call without any is not allowed by its paths", () => {
  const rules: ApprovalRule[] = [{ allow: { path: "src/**", access: "write" } }, { allow: { path: "docs/*" } }];
  expect(allowingRules(rules, paths(["docs/a"], ["src/b"]))).toEqual([rules[1], rules[0]]);
  expect(allowingRules(rules, paths(["docs/a"], ["lib/b"]))).toBeUndefined();
  expect(allowingRules(rules, paths(["src/b"], []))).toBeUndefined();
  expect(allowingRules([{ allow: { path: "**" } }], paths([], []))).toBeUndefined();
});

test("a command that works outside the workspace is not allowed by its words alone", () => {
  const rules: ApprovalRule[] = [{ allow: { command: "npm test" } }];
  const call = { tool: "t", workspace: W, commandText: "npm test" };
  expect(allowingRules(rules, { ...call, paths: { read: [join(W, "sub")] } })).toEqual(rules);
  expect(allowingRules(rules, { ...call, paths: { read: ["/tmp/evil"] } })).toBeUndefined();
});

test("a path with a backslash has no pattern", () => {
  expect(exactGlob("a\\b")).toBeUndefined();
});
