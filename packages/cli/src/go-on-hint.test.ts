import { expect, test } from "vitest";
import { outcome } from "../test/support/fake-agent.ts";
import { goOnHint } from "./go-on-hint.ts";

const session = { sessionId: "session-1" };

test.each([
  [{ status: "aborted" }],
  [{ status: "timeout" }],
  [{ status: "failed", code: "max-turns" }],
  [{ status: "failed", code: "budget" }],
  [{ status: "failed", code: "output-length" }],
] as const)("a run that ended as %j can be gone on with", (end) => {
  expect(goOnHint(outcome(end), session)).toBe('go on with rookery run --continue "go on"');
});

test("a goal is gone on with as one", () => {
  const goal = { outcome: "aborted", rounds: 2, tokens_used: 1 } as const;
  expect(goOnHint(outcome({ status: "aborted", goal }), session)).toBe(
    'go on with rookery run --continue --goal "OBJECTIVE"',
  );
});

test.each([
  [{ status: "completed" }],
  [{ status: "auth" }],
  [{ status: "timeout", code: "retries-exhausted" }],
  [{ status: "failed", code: "provider-refused" }],
  [{ status: "failed", code: "goal-blocked", goal: { outcome: "blocked", rounds: 1, tokens_used: 1 } }],
] as const)("a run that ended as %j needs something else", (end) => {
  expect(goOnHint(outcome(end), session)).toBeUndefined();
});

test("where flags said where it works and where its model is, they are in the advice", () => {
  const flags = { ...session, workspace: "sub", baseUrl: "http://127.0.0.1:1/v1" };
  expect(goOnHint(outcome({ status: "aborted" }), flags)).toBe(
    'go on with rookery run --resume session-1 --base-url http://127.0.0.1:1/v1 "go on"',
  );
});
