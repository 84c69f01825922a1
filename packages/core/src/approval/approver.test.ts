import { expect, test } from "vitest";
import { modelMessage } from "../omnimessage/build.ts";
import { approver } from "./approver.ts";
import type { ApprovalContext, ApproveFn } from "./contract.ts";

const call = modelMessage({
  type: "tool_call",
  role: "assistant",
  name: "touch",
  arguments: "{}",
  tool_call_id: "call_1",
});
const writes: ApprovalContext = { summary: "touch a file", risk: "filesystem", permission: "rw", workspace: "/w" };
const reads: ApprovalContext = { ...writes, risk: "read_only", permission: "r" };
const broken: ApprovalContext = { ...writes, error: "no tool is named touch" };
const unasked: ApproveFn = () => {
  throw new Error("somebody was asked");
};

test("deny-all denies every call, also one that reads and one that cannot run (PT-175)", async () => {
  const approve = approver({ mode: "deny-all", ask: unasked });
  for (const context of [writes, reads, broken]) {
    expect(await approve(call, context)).toMatchObject({ decision: "deny", decidedBy: "mode" });
  }
});

test("deny-all tells the model why", async () => {
  expect(await approver({ mode: "deny-all" })(call, writes)).toMatchObject({
    reason: "the mode deny-all denies every call",
  });
});

test("allow-all allows every call without asking (PT-173)", async () => {
  const approve = approver({ mode: "allow-all", ask: unasked });
  for (const context of [writes, reads, broken]) {
    expect(await approve(call, context)).toEqual({ decision: "allow", decidedBy: "mode" });
  }
});

test("read-only allows what has permission r unasked and leaves the rest to a person (PT-176)", async () => {
  const asked: string[] = [];
  const approve = approver({
    mode: "read-only",
    ask: async (_call, context) => {
      asked.push(context.permission);
      return "deny";
    },
  });
  expect(await approve(call, reads)).toEqual({ decision: "allow", decidedBy: "mode" });
  expect(await approve(call, writes)).toBe("deny");
  expect(asked).toEqual(["rw"]);
});

test("always-ask leaves every call to a person, whose answer is passed on as it is (PT-177, PC-109)", async () => {
  const answer = { decision: "allow", decidedBy: "user", reason: "seen" } as const;
  const approve = approver({ mode: "always-ask", ask: async () => answer });
  expect(await approve(call, reads)).toBe(answer);
  expect(await approve(call, writes)).toBe(answer);
});

test("a call that cannot run is allowed without asking anyone, in the modes that ask (PC-109)", async () => {
  for (const mode of ["read-only", "always-ask"] as const) {
    const approve = approver({ mode, ask: unasked });
    expect(await approve(call, broken)).toEqual({ decision: "allow", decidedBy: "mode" });
  }
});

test("without anyone to ask, what a mode leaves to a person is denied by default (PT-176, PT-177)", async () => {
  const denied = { decision: "deny", decidedBy: "default", reason: "nobody can answer" };
  expect(await approver({ mode: "read-only" })(call, writes)).toEqual(denied);
  expect(await approver({ mode: "always-ask" })(call, reads)).toEqual(denied);
});

test("a question that throws is a denial (PC-109)", async () => {
  const approve = approver({ mode: "always-ask", ask: unasked });
  expect(await approve(call, writes)).toEqual({
    decision: "deny",
    decidedBy: "default",
    reason: "the question failed: somebody was asked",
  });
});
