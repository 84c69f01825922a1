import { expect, test } from "vitest";
import { type ApprovalRule, ruleProblem, ruleText } from "./rule.ts";

test.each<[ApprovalRule, string]>([
  [{}, "needs exactly one of allow and deny"],
  [{ allow: { tool: "a" }, deny: { tool: "b" } }, "needs exactly one of allow and deny"],
  [{ allow: {} }, "needs exactly one of command, tool and path"],
  [{ allow: { tool: "a", path: "b" } }, "needs exactly one of command, tool and path"],
  [{ allow: { tool: "a", access: "read" } }, "an access, which goes with a path only"],
  [{ allow: { tool: "a" }, workspace: "here" }, 'an absolute workspace, got "here"'],
  [{ deny: { tool: " " } }, "an empty tool"],
  [{ deny: { path: "" } }, "an empty path"],
  [{ deny: { path: "a\\\\b" } }, "two backslashes"],
  [{ deny: { path: "a".repeat(70_000) } }, "no pattern"],
  [{ deny: { command: "rm; ls" } }, "it is not one command"],
  [{ deny: { command: "" } }, "it is not one command"],
  [{ deny: { command: "A=1 rm" } }, "it does not begin with a program"],
  [{ deny: { command: "rm *" } }, "it holds a pattern for file names; put signs into quotes"],
  [{ deny: { command: "bash -c x" } }, "bash -c runs a text"],
])("%j is no rule: it has %s", (rule, problem) => {
  expect(ruleProblem(rule)).toContain(problem);
});

test("a rule is written as it is added", () => {
  expect(ruleText({ allow: { command: "git 'a b'" }, workspace: "/w" })).toBe(
    `allow command 'git '\\''a b'\\''' --workspace /w`,
  );
  expect(ruleText({ deny: { path: "**/*.pem", access: "read" } })).toBe("deny path '**/*.pem' --access read");
});
