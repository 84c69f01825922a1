import { expect, test } from "vitest";
import type { ApprovalContext } from "./contract.ts";
import { lastingRules } from "./lasting-rules.ts";
import { ruleProblem, ruleText } from "./rule.ts";

const context: ApprovalContext = { summary: "s", risk: "process", permission: "rw", workspace: "/no-such-place/app" };
const stored = (changes: Partial<ApprovalContext>): string[] | undefined =>
  lastingRules("probe", { ...context, ...changes })?.map((rule) => {
    expect([rule.workspace, ruleProblem(rule)]).toEqual([context.workspace, undefined]);
    return ruleText({ ...(rule.allow && { allow: rule.allow }) });
  });

test("of a command the whole words of each part are stored, once", () => {
  expect(stored({ commandText: "git log -1 && echo 'a  b' --x=1; git log -1" })).toEqual([
    "allow command 'git log -1'",
    `allow command 'echo '\\''a  b'\\'' --x=1'`,
  ]);
  expect(stored({ commandText: "python3 -c 'print(1)'" })).toHaveLength(1);
  expect(stored({ commandText: "timeout 5 make all" })).toEqual(["allow command 'timeout 5 make all'"]);
});

test.each([
  "echo $x",
  "A=1 make",
  "cat <<'E' | python3 -\nx\nE",
  "echo x | sh",
  "python3.12",
  "cat x.py | python3 -u -",
  "echo x | sudo bash -s",
  "env",
  "sudo bash",
  "bash -c ls",
  "",
])("%j is not one that can be allowed for good", (commandText) => {
  expect(stored({ commandText })).toBeUndefined();
});

test("of a call with paths these are stored, of any other the tool", () => {
  expect(stored({ paths: { read: ["/no-such-place/app/a[1].ts"], write: ["/etc/b"] } })).toEqual([
    "allow path 'a\\[1\\].ts' --access read",
    "allow path /etc/b --access write",
  ]);
  expect(stored({})).toEqual(["allow tool probe"]);
  expect(stored({ paths: { read: [] } })).toEqual(["allow tool probe"]);
});

test("a command in another directory is stored together with it", () => {
  expect(stored({ commandText: "make", paths: { read: ["/tmp/x"] } })).toEqual([
    "allow command make",
    "allow path /tmp/x --access read",
  ]);
});

test("a path that no pattern can name is not allowed for good", () => {
  expect(stored({ paths: { write: ["/no-such-place/app/a\\b"] } })).toBeUndefined();
});

test("a call that cannot run stores nothing", () => {
  expect(stored({ error: "no tool is named probe" })).toBeUndefined();
});
