import { expect, test, vi } from "vitest";
import type { ApproveFn } from "../src/approval/contract.ts";
import type { Hooks } from "../src/engine/hooks.ts";
import type { AgentTool } from "../src/environment/agent-tool.ts";
import { userText } from "../src/omnimessage/build.ts";
import { ofType } from "../src/omnimessage/guards.ts";
import { type CollectedRun, collectRun, scriptedLLM, tempAgent } from "../src/testing/index.ts";
import { echoTool } from "./support/test-tools.ts";

async function runWith(
  hooks: Hooks,
  approve: ApproveFn = async () => "allow",
  tool: AgentTool = echoTool(),
): Promise<CollectedRun> {
  const llm = scriptedLLM({ calls: [{ name: "echo", args: { text: "a" } }] }, "done");
  await using temp = await tempAgent({ createLLM: () => llm, tools: [tool], hooks });
  const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir });
  return await collectRun(session, [userText("Go")], { approve });
}

function output(run: CollectedRun): string | undefined {
  return ofType(run.messages, "tool_call_output")[0]?.payload.output;
}

test("beforeToolCall gets the call, its parsed arguments and a signal, and undefined lets it go on (PI-079, PI-080)", async () => {
  const seen: unknown[] = [];
  const run = await runWith({
    beforeToolCall: async ({ toolCall, args }, signal) => {
      seen.push(toolCall.name, args, signal instanceof AbortSignal);
      return undefined;
    },
  });
  expect(seen).toEqual(["echo", { text: "a" }, true]);
  expect(output(run)).toBe("echo: a");
});

test("a hook that blocks gives an error result with its reason; nobody is asked and the tool does not run (PI-017, PI-081)", async () => {
  const approve = vi.fn(async () => "allow" as const);
  const execute = vi.fn(echoTool().execute);
  const run = await runWith({ beforeToolCall: async () => ({ block: true, reason: "not here" }) }, approve, {
    ...echoTool(),
    execute,
  });
  expect(approve).not.toHaveBeenCalled();
  expect(execute).not.toHaveBeenCalled();
  expect(output(run)).toBe("Tool call blocked: not here");
  expect(ofType(run.messages, "tool_call_output")[0]?.payload.stop_reason).toBe("failed");
  expect(ofType(run.trace, "approval_decision")[0]?.payload).toMatchObject({ decision: "deny", decided_by: "hook" });
  expect(run.outcome.denied).toEqual([{ tool: "echo", reason: "not here" }]);
});

test("a hook that throws blocks the call with what it threw", async () => {
  const run = await runWith({
    beforeToolCall: async () => {
      throw new Error("no connection");
    },
  });
  expect(output(run)).toBe("Tool call blocked: the hook failed: no connection");
});

test("replaced arguments are assessed again, shown to the person, recorded, and run", async () => {
  const shown: string[] = [];
  const run = await runWith({ beforeToolCall: async () => ({ args: { text: "b" } }) }, async (toolCall, context) => {
    shown.push(toolCall.payload.arguments, context.summary);
    return "allow";
  });
  expect(shown[0]).toBe('{"text":"b"}');
  expect(shown[1]).toContain("b");
  expect(output(run)).toBe("echo: b");
  expect(ofType(run.trace, "approval_decision")[0]?.payload.arguments).toBe('{"text":"b"}');
  expect(ofType(run.trace, "tool_call")[0]?.payload.arguments).toBe('{"text":"a"}');
});

test("replaced arguments that do not fit the schema do not run", async () => {
  const run = await runWith({ beforeToolCall: async () => ({ args: { text: {} } }) });
  expect(output(run)).toContain("text");
  expect(ofType(run.messages, "tool_call_output")[0]?.payload.stop_reason).toBe("failed");
});

test("afterToolCall overrides whole fields, each hook seeing what the one before left (PI-020)", async () => {
  const run = await runWith({
    afterToolCall: [
      async ({ result }) => ({ output: `${result.output}!`, details: { first: true } }),
      async ({ result }) => ({ output: `${result.output}?`, stop_reason: "failed" }),
    ],
  });
  expect(ofType(run.messages, "tool_call_output")[0]?.payload).toMatchObject({
    output: "echo: a!?",
    details: { first: true },
    stop_reason: "failed",
  });
});

test("with an afterToolCall hook nothing of the output is streamed before the hook has answered", async () => {
  let streamedBefore: boolean | undefined;
  const run = await runWith({
    afterToolCall: async () => {
      streamedBefore = false;
      return { output: "redacted" };
    },
  });
  expect(streamedBefore).toBe(false);
  const pieces = ofType(run.messages, "partial_tool_call_output").map(({ payload }) => payload.output);
  expect(pieces.join("")).toBe("redacted");
});

test("an afterToolCall hook that throws leaves the output and warns", async () => {
  const warnings: string[] = [];
  const llm = scriptedLLM({ calls: [{ name: "echo", args: { text: "a" } }] }, "done");
  await using temp = await tempAgent({
    createLLM: () => llm,
    tools: [echoTool()],
    hooks: {
      afterToolCall: async () => {
        throw new Error("down");
      },
    },
    onWarning: ({ code }) => warnings.push(code),
  });
  const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir });
  const run = await collectRun(session, [userText("Go")], { approve: async () => "allow" });
  expect(output(run)).toBe("echo: a");
  expect(warnings).toEqual(["hook-failed"]);
});

test("a call goes through finding, preparing, checking and hooks in this order (PI-015, PI-016)", async () => {
  const order: string[] = [];
  const tool = {
    ...echoTool("shout"),
    prepareArguments: (args: unknown) => {
      order.push("prepare");
      return { text: (args as { words: string }).words };
    },
    execute: async (_id: string, params: Record<string, unknown>) => {
      order.push(`execute ${String(params.text)}`);
      return { content: [{ type: "text" as const, text: "ok" }], details: {} };
    },
  };
  const llm = scriptedLLM({ calls: [{ name: "shout", args: { words: "hey" } }] }, "done");
  await using temp = await tempAgent({
    createLLM: () => llm,
    tools: [tool],
    hooks: {
      beforeToolCall: async ({ args }) => {
        order.push(`hook ${String(args.text)}`);
        return undefined;
      },
    },
  });
  const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir });
  await collectRun(session, [userText("Go")], { approve: async () => "allow" });
  expect(order).toEqual(["prepare", "hook hey", "execute hey"]);
});
