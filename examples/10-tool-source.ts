/*
 * Full control over a tool: a `BuiltinTool` streams its output as it comes and says beforehand what a call would do, and a
 * `ToolSource` brings tools that may change while a session runs. Framing, time-out, truncation and the complete output are
 * the environment's, the same for every tool.
 */
import assert from "node:assert/strict";
import { type BuiltinTool, modelMessage, ofType, type ToolSource, userText } from "@rookery/core";
import { collectRun, scriptedLLM, tempAgent } from "@rookery/core/testing";

const parameters = { type: "object", properties: { from: { type: "integer", minimum: 1 } }, required: ["from"] };
const countDown: BuiltinTool = {
  name: "count_down",
  definition: { name: "count_down", description: "Count down to one.", parameters, timeoutMs: 10_000 },
  risk: "read_only",
  approvalSummary: ({ from }) => `count down from ${from}`,
  async *execute({ from }, { toolCallId, signal }) {
    const delta = { type: "partial_tool_call_output", role: "user", event_type: "delta" } as const;
    for (let n = Number(from); n > 0 && !signal?.aborted; n--) {
      yield modelMessage({ ...delta, output: `${n}\n`, tool_call_id: toolCallId });
    }
    return { note: "[lift-off]", details: { from } };
  },
};

const tools: BuiltinTool[] = [];
const listeners: (() => void)[] = [];
const source: ToolSource = {
  id: "rocket",
  tools: async () => tools,
  onChange: (listener) => listeners.push(listener),
  dispose: () => undefined,
};

const llm = scriptedLLM("Not yet.", { calls: [{ name: "count_down", args: { from: 3 } }] }, "Gone.");
await using temp = await tempAgent({ createLLM: () => llm, toolSources: [source] });
const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir });
await collectRun(session, [userText("Can you count down?")]);

tools.push(countDown);
for (const listener of listeners) listener();
const { messages } = await collectRun(session, [userText("And now?")], { approve: async () => "allow" });

const [list] = ofType(messages, "tool_list_ready");
const [asked] = ofType(messages, "approval_request");
const [output] = ofType(messages, "tool_call_output");
console.log(output?.payload.output);
assert.equal(list?.payload.tools.at(-1)?.name, "count_down");
assert.equal(asked?.payload.summary, "count down from 3");
assert.equal(output?.payload.output, "3\n2\n1\n[lift-off]");
