import { expect, test } from "vitest";
import { approver } from "../src/approval/approver.ts";
import type { ApprovalContext, ApproveFn } from "../src/approval/contract.ts";
import { userText } from "../src/omnimessage/build.ts";
import { ofType } from "../src/omnimessage/guards.ts";
import type { OmniMessage, ToolCallPayload } from "../src/omnimessage/message.ts";
import { type CollectedRun, collectRun, type ScriptedReply, scriptedLLM, tempAgent } from "../src/testing/index.ts";
import { echoTool } from "./support/test-tools.ts";

const echo = (text: string) => ({ name: "echo", args: { text } });

/** One run over a reply with calls and a closing text, with this callback. */
async function runWith(
  approve: ApproveFn | undefined,
  reply: ScriptedReply = { calls: [echo("a")] },
): Promise<CollectedRun> {
  await using temp = await tempAgent({ createLLM: () => scriptedLLM(reply, "done"), tools: [echoTool()] });
  const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir });
  return await collectRun(session, [userText("Go")], approve ? { approve } : {});
}

function decisions(run: CollectedRun): unknown[] {
  return ofType(run.trace, "approval_decision").map(({ payload: { type, tool_call_id, ...rest } }) => rest);
}

function outputs(run: CollectedRun): unknown[] {
  return ofType(run.messages, "tool_call_output").map(({ payload }) => [payload.output, payload.stop_reason]);
}

test("without a callback every call is denied, and the task goes on (PT-172, PC-082, PC-089, PT-182)", async () => {
  const run = await runWith(undefined);
  expect(decisions(run)).toEqual([
    { decision: "deny", decided_by: "default", reason: "no approval callback was given" },
  ]);
  expect(outputs(run)).toEqual([["Tool call denied by user.\nReason: no approval callback was given", "aborted"]]);
  expect(run.outcome).toMatchObject({ status: "completed", text: "done" });
  expect(run.outcome.denied).toEqual([{ tool: "echo", reason: "no approval callback was given" }]);
});

test("each complete call is put to the callback exactly once, in order, one at a time (PT-170, PC-087)", async () => {
  const seen: string[] = [];
  let pending = 0;
  const run = await runWith(
    async (toolCall) => {
      expect(++pending).toBe(1);
      seen.push(toolCall.payload.arguments);
      await new Promise((resolve) => setImmediate(resolve));
      pending--;
      return "allow";
    },
    { calls: [echo("a"), echo("b"), echo("c")] },
  );
  expect(seen).toEqual(['{"text":"a"}', '{"text":"b"}', '{"text":"c"}']);
  expect(decisions(run)).toHaveLength(3);
});

test("a denied call gets a synthetic aborted output and never runs (PT-181, PT-184)", async () => {
  const run = await runWith(async () => "deny");
  expect(outputs(run)).toEqual([["Tool call denied by user.", "aborted"]]);
  expect(decisions(run)).toEqual([{ decision: "deny", decided_by: "user" }]);
});

test("every decision is an event in the trace, between its call and the first output (PT-183)", async () => {
  const run = await runWith(async () => ({ decision: "deny", decidedBy: "mode", reason: "not today" }));
  const order = run.trace.map((message) => message.payload.type);
  expect(order.indexOf("approval_decision")).toBeGreaterThan(order.indexOf("tool_call"));
  expect(order.indexOf("tool_call_output")).toBeGreaterThan(order.indexOf("approval_decision"));
  expect(decisions(run)).toEqual([{ decision: "deny", decided_by: "mode", reason: "not today" }]);
});

test.each([
  [
    "throws",
    (() => {
      throw new Error("boom");
    }) as unknown as ApproveFn,
  ],
  [
    "rejects",
    (async () => {
      throw new Error("boom");
    }) as ApproveFn,
  ],
  ["answers nonsense", (async () => "perhaps") as unknown as ApproveFn],
])("a callback that %s counts as deny (PC-088)", async (_, approve) => {
  const run = await runWith(approve);
  expect(ofType(run.trace, "approval_decision")[0]?.payload.decision).toBe("deny");
  expect(run.outcome.status).toBe("completed");
});

test("the callback is told what the call would do, and the stream shows the question", async () => {
  const contexts: [OmniMessage<ToolCallPayload>, ApprovalContext][] = [];
  const run = await runWith(async (toolCall, context) => {
    contexts.push([toolCall, context]);
    return "allow";
  });
  expect(contexts[0]?.[1]).toMatchObject({ risk: "process", permission: "rw" });
  expect(contexts[0]?.[1].summary).toContain("echo");
  expect(ofType(run.messages, "approval_request")[0]?.payload).toMatchObject({
    tool_call_id: "call_1",
    risk: "process",
  });
  expect(ofType(run.trace, "approval_request")).toEqual([]);
});

test("a call that cannot run still reaches the callback once, marked, and is answered with what is wrong", async () => {
  const errors: (string | undefined)[] = [];
  const run = await runWith(
    async (_, context) => {
      errors.push(context.error);
      return "allow";
    },
    {
      calls: [
        { name: "ecko", args: {} },
        { name: "echo", args: { text: 5 } },
      ],
    },
  );
  expect(errors).toHaveLength(2);
  expect(errors.every((error) => error !== undefined)).toBe(true);
  expect(outputs(run)).toEqual(errors.map((error) => [error, "failed"]));
  expect(errors[0]).toMatch(/^no tool named "ecko"; use one of .*echo/);
});

test("a denial because nobody could answer fails the run with its own code", async () => {
  const run = await runWith(approver({ mode: "always-ask" }));
  expect(run.outcome).toMatchObject({ status: "failed", code: "approval-unanswered", text: "done" });
  expect(run.messages.at(-1)?.payload).toMatchObject({ type: "abort", code: "approval-unanswered" });
});
