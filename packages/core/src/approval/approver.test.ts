import { expect, test } from "vitest";
import { modelMessage } from "../omnimessage/build.ts";
import { type AskFn, approver } from "./approver.ts";
import type { ApprovalContext } from "./contract.ts";
import type { ApprovalRule } from "./rule.ts";

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
const unasked: AskFn = () => {
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

const logs: ApprovalContext = { ...writes, risk: "process", commandText: "git log -1" };
const allowLog: ApprovalRule = { allow: { command: "git log" } };

test("deny-all beats an allow rule (PT-175)", async () => {
  expect(await approver({ mode: "deny-all", rules: [allowLog] })(call, logs)).toMatchObject({
    decision: "deny",
    decidedBy: "mode",
  });
});

test("an allow rule goes before the mode, and says which it was; a deny rule before both", async () => {
  const rules: ApprovalRule[] = [allowLog];
  expect(await approver({ mode: "always-ask", rules, ask: unasked })(call, logs)).toEqual({
    decision: "allow",
    decidedBy: "rule",
    reason: "allow command 'git log'",
  });
  rules.push({ deny: { tool: "touch" } });
  expect(await approver({ mode: "allow-all", rules })(call, logs)).toEqual({
    decision: "deny",
    decidedBy: "rule",
    reason: "deny tool touch",
  });
});

test("a call that cannot run is not compared with rules (PC-109)", async () => {
  expect(await approver({ mode: "always-ask", rules: [{ deny: { tool: "touch" } }] })(call, broken)).toEqual({
    decision: "allow",
    decidedBy: "mode",
  });
});

test("an answer for once is asked for again, a lasting one is stored and not", async () => {
  const answers = ["allow", "always"] as const;
  const stored: unknown[] = [];
  let asked = 0;
  const approve = approver({
    mode: "always-ask",
    ask: async (_call, { workspace }, { lasting }) => {
      if (workspace === "/w") expect(lasting).toEqual([{ allow: { command: "git log -1" }, workspace: "/w" }]);
      return answers[asked++] ?? "deny";
    },
    remember: async (rules) => void stored.push(...rules),
  });
  expect(await approve(call, logs)).toBe("allow");
  expect(stored).toEqual([]);
  expect(await approve(call, logs)).toEqual({ decision: "allow", decidedBy: "user" });
  expect(stored).toEqual([{ allow: { command: "git log -1" }, workspace: "/w" }]);
  expect(await approve(call, logs)).toMatchObject({ decision: "allow", decidedBy: "rule" });
  expect(await approve(call, { ...logs, workspace: "/other" })).toBe("deny");
  expect(asked).toBe(3);
});

test("two open questions of the same kind are both settled by a lasting answer, another one stays open", async () => {
  const questions: { text?: string; answer: (value: "always" | "deny") => void; settled: AbortSignal }[] = [];
  const approve = approver({
    mode: "always-ask",
    ask: (_call, { commandText = "" }, { settled }) =>
      new Promise((answer) => void questions.push({ text: commandText, answer, settled })),
  });
  const first = approve(call, logs);
  const second = approve(call, logs);
  const third = approve(call, { ...logs, commandText: "git push" });
  await new Promise((resolve) => setImmediate(resolve));
  questions[0]?.answer("always");
  expect(await first).toEqual({ decision: "allow", decidedBy: "user" });
  expect(await second).toMatchObject({ decision: "allow", decidedBy: "rule" });
  expect(questions.map(({ settled }) => settled.aborted)).toEqual([false, true, false]);
  questions[2]?.answer("deny");
  expect(await third).toBe("deny");
});

test("a lasting answer holds although it could not be stored", async () => {
  let asked = 0;
  const approve = approver({
    mode: "always-ask",
    ask: async () => (asked++ === 0 ? "always" : "deny"),
    remember: async () => Promise.reject(new Error("disk full")),
  });
  expect(await approve(call, logs)).toMatchObject({ decision: "allow" });
  expect(await approve(call, logs)).toMatchObject({ decision: "allow", decidedBy: "rule" });
});

test("always, where no rule can say what, allows once", async () => {
  let asked = 0;
  const approve = approver({ mode: "always-ask", ask: async () => (asked++ === 0 ? "always" : "deny") });
  const unreadable = { ...logs, commandText: "git log $(x)" };
  expect(await approve(call, unreadable)).toMatchObject({ decision: "allow" });
  expect(await approve(call, unreadable)).toBe("deny");
});
