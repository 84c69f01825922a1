import { expect, test } from "vitest";
import { runExitCode, stopExitCode } from "./exit-code.ts";

test("each way a run can end has its exit code", () => {
  expect(runExitCode({ status: "completed" })).toBe(0);
  expect(runExitCode({ status: "failed", code: "max-turns" })).toBe(1);
  expect(runExitCode({ status: "failed", code: "approval-unanswered" })).toBe(1);
  expect(runExitCode({ status: "auth" })).toBe(3);
  expect(runExitCode({ status: "timeout" })).toBe(124);
  expect(runExitCode({ status: "aborted" })).toBe(130);
});

test("a model that timed out at every attempt is a failure, not the time limit", () => {
  expect(runExitCode({ status: "timeout", code: "retries-exhausted" })).toBe(1);
});

test("a tool call without a stop reason is completed", () => {
  expect(stopExitCode()).toBe(0);
  expect(stopExitCode("failed")).toBe(1);
  expect(stopExitCode("timeout")).toBe(124);
  expect(stopExitCode("aborted")).toBe(130);
});
