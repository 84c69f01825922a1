import fc from "fast-check";
import { expect, test } from "vitest";
import { arbitraryMessage } from "../../test/support/arbitrary-message.ts";
import { Gate, gatedTool } from "../../test/support/test-tools.ts";
import { type AgentTool, defineTool } from "../environment/agent-tool.ts";
import { assistantText, eventMessage, modelMessage, userImage, userText, withOrigin } from "../omnimessage/build.ts";
import type { EventPayload, OmniMessage } from "../omnimessage/message.ts";
import { collectRun, type ScriptedTurn, scriptedLLM, tempAgent } from "../testing/index.ts";
import type { AgentEvent } from "./agent-event.ts";
import { agentEvents } from "./agent-events.ts";

async function eventsOf(turns: readonly ScriptedTurn[], ...tools: AgentTool[]): Promise<AgentEvent[]> {
  await using temp = await tempAgent({ createLLM: () => scriptedLLM(...turns), tools });
  const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir });
  const input = [userText("Go")];
  const { messages } = await collectRun(session, input, { approve: async () => "allow" });
  return agentEvents(input, messages);
}

/** An event in a word or two: its type, whose message, which step. */
function words(events: readonly AgentEvent[]): string[] {
  return events.map((event) => {
    if (event.type === "message_update") return event.assistantMessageEvent.type;
    return "message" in event && event.type !== "turn_end" ? `${event.type} ${event.message.role}` : event.type;
  });
}

const counting = defineTool({
  name: "count",
  label: "Count",
  description: "Counts.",
  parameters: { type: "object", properties: { to: { type: "integer" } }, required: ["to"] },
  execute: async (_id, { to }, _signal, onUpdate) => {
    for (let i = 1; i <= to; i++) {
      onUpdate?.({ content: [{ type: "text", text: `Progress: ${i}%` }], details: { progress: i } });
    }
    return { content: [{ type: "text", text: "Complete" }], details: { progress: to } };
  },
});

test("a turn with a call: the reply, the execution, the result as a message, the next turn (PI-018, PI-021)", async () => {
  const call = { name: "count", args: { to: 2 }, id: "c1" };
  const events = await eventsOf([{ text: "hm", calls: [call] }, "ok"], counting);
  expect(words(events)).toEqual([
    "agent_start",
    "turn_start",
    "message_start user",
    "message_end user",
    "message_start assistant",
    "text_start",
    "text_delta",
    "text_delta",
    "text_end",
    "toolcall_start",
    "toolcall_delta",
    "toolcall_delta",
    "toolcall_end",
    "message_end assistant",
    "tool_execution_start",
    "tool_execution_update",
    "tool_execution_update",
    "tool_execution_end",
    "message_start toolResult",
    "message_end toolResult",
    "turn_end",
    "turn_start",
    "message_start assistant",
    "text_start",
    "text_delta",
    "text_delta",
    "text_end",
    "message_end assistant",
    "turn_end",
    "agent_end",
  ]);
  const execution = { toolCallId: "c1", toolName: "count", args: { to: 2 } };
  const partialResult = { content: [{ type: "text", text: "Progress: 1%" }], details: { progress: 1 } };
  expect(events[14]).toEqual({ type: "tool_execution_start", ...execution });
  expect(events[15]).toEqual({ type: "tool_execution_update", ...execution, partialResult });
  const result = { content: [{ type: "text", text: "Complete" }], details: { progress: 2 } };
  expect(events[17]).toEqual({
    type: "tool_execution_end",
    toolCallId: "c1",
    toolName: "count",
    result,
    isError: false,
  });
  const toolResult = { role: "toolResult", toolCallId: "c1", toolName: "count", ...result, isError: false };
  expect(events[20]).toMatchObject({ message: { stopReason: "toolUse" }, toolResults: [toolResult] });
  expect(events.at(-1)).toMatchObject({
    messages: [
      { role: "user", content: [{ type: "text", text: "Go" }] },
      {
        role: "assistant",
        content: [
          { type: "text", text: "hm" },
          { type: "toolCall", id: "c1", name: "count", arguments: { to: 2 } },
        ],
        usage: { input: 10, output: 5, totalTokens: 15 },
      },
      toolResult,
      { role: "assistant", content: [{ type: "text", text: "ok" }], stopReason: "stop" },
    ],
  });
});

test("a hundred updates arrive complete and in order, and the result after them (PI-085)", async () => {
  const events = await eventsOf([{ calls: [{ name: "count", args: { to: 100 } }] }, "ok"], counting);
  const progress = events.flatMap((event) =>
    event.type === "tool_execution_update" ? [(event.partialResult.details as { progress: number }).progress] : [],
  );
  expect(progress).toEqual(Array.from({ length: 100 }, (_, i) => i + 1));
  const types = events.map(({ type }) => type);
  expect(types.indexOf("tool_execution_end")).toBe(types.lastIndexOf("tool_execution_update") + 1);
});

test("calls that run side by side end as they do, and their results come in the order of the calls", async () => {
  const gates = { slow: new Gate(), fast: new Gate() };
  const { tool, onStart } = gatedTool("wait", { gates });
  void onStart("fast").then(() => gates.fast.open());
  const watched: AgentTool = {
    ...tool,
    execute: async (...args) => {
      const result = await tool.execute(...args);
      gates.slow.open();
      return result;
    },
  };
  const calls = ["slow", "fast"].map((key) => ({ name: "wait", args: { key }, id: key }));
  const events = await eventsOf([{ calls }, "ok"], watched);
  const ids = (type: AgentEvent["type"]): unknown[] =>
    events.flatMap((event) => (event.type === type && "toolCallId" in event ? [event.toolCallId] : []));
  expect(ids("tool_execution_end")).toEqual(["fast", "slow"]);
  const turnEnd = events.find((event) => event.type === "turn_end");
  expect(turnEnd?.type === "turn_end" && turnEnd.toolResults.map(({ toolCallId }) => toolCallId)).toEqual([
    "slow",
    "fast",
  ]);
  const shown = events.flatMap((event) =>
    event.type === "message_end" && event.message.role === "toolResult" ? [event.message.toolCallId] : [],
  );
  expect(shown).toEqual(["slow", "fast"]);
});

test("thinking is a block of its own; a reply that the length limit ended says so", async () => {
  const events = await eventsOf([{ thinking: "hm", text: "so", finishReason: "length" }]);
  const end = events.find((event) => event.type === "turn_end");
  expect(end).toMatchObject({
    message: {
      stopReason: "length",
      content: [
        { type: "thinking", thinking: "hm" },
        { type: "text", text: "so" },
      ],
    },
  });
  expect(words(events)).toContain("thinking_delta");
});

test("a failed reply ends as error with its reason, and its turn ends without results", async () => {
  const outcome = { status: "failed", permanent: true, message: "no such model" } as const;
  const events = await eventsOf([{ text: "Well", outcome }]);
  expect(words(events).slice(-4)).toEqual(["text_end", "message_end assistant", "turn_end", "agent_end"]);
  expect(events.at(-2)).toMatchObject({
    message: { stopReason: "error", errorMessage: "no such model", content: [{ type: "text", text: "Well" }] },
    toolResults: [],
  });
});

test("an attempt that is made again is a turn of its own", () => {
  const events = agentEvents(
    [userText("Go")],
    [
      eventMessage({ type: "request_begin" }),
      eventMessage({ type: "request_end", status: "timeout", error_message: "late", retry_in_ms: 1 }),
      eventMessage({ type: "request_begin" }),
      assistantText("whole"),
      withOrigin(assistantText("of a child"), "session-x"),
      eventMessage({ type: "request_end", status: "completed" }),
    ],
  );
  expect(words(events).slice(4)).toEqual([
    "message_start assistant",
    "message_end assistant",
    "turn_end",
    "turn_start",
    "message_start assistant",
    "text_start",
    "text_end",
    "message_end assistant",
    "turn_end",
    "agent_end",
  ]);
});

test("a run that stops inside a reply ends message and turn; one before any ends at once", () => {
  const begun = agentEvents(
    [userText("Go"), userImage("https://example.com/a.png"), userImage("data:image/png;base64,AA==")],
    [
      eventMessage({ type: "request_begin" }),
      modelMessage({ type: "partial_text", role: "assistant", event_type: "start", text: "" }),
    ],
  );
  expect(words(begun).slice(-4)).toEqual(["text_start", "message_end assistant", "turn_end", "agent_end"]);
  expect(begun.at(-1)).toMatchObject({
    messages: [
      {
        content: [
          { type: "text", text: "Go" },
          { type: "text", text: "[image: https://example.com/a.png]" },
          { type: "image", mimeType: "image/png", data: "AA==" },
        ],
      },
      { stopReason: "aborted" },
    ],
  });
  expect(words(agentEvents([], []))).toEqual(["agent_start", "turn_start", "agent_end"]);
});

test("whatever a stream holds, nothing throws, and what starts ends", () => {
  const request = fc.constantFrom<EventPayload>(
    { type: "request_begin" },
    { type: "request_end", status: "completed" },
    { type: "request_end", status: "failed" },
  );
  const stream = fc.array(
    fc.oneof(
      arbitraryMessage,
      request.map((payload): unknown => eventMessage(payload)),
    ),
  );
  fc.assert(
    fc.property(stream, (messages) => {
      const types = agentEvents([userText("Go")], messages as OmniMessage[]).map(({ type }) => type);
      const count = (type: AgentEvent["type"]): number => types.filter((each) => each === type).length;
      expect([types[0], types.at(-1)]).toEqual(["agent_start", "agent_end"]);
      expect(count("message_start")).toBe(count("message_end"));
      expect(count("turn_end")).toBeGreaterThanOrEqual(count("turn_start") - 1);
      expect(count("tool_execution_start")).toBeGreaterThanOrEqual(count("tool_execution_end"));
    }),
  );
});
