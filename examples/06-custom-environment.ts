/*
 * Tools that run somewhere else: whatever implements `EnvironmentInterface` can take the place of the built-in environment.
 * This one keeps notes in memory; a container or a remote machine would look the same. It lists its tools, says which only
 * read, and answers each call with one complete output. It never throws: what goes wrong is an output as well.
 */
import assert from "node:assert/strict";
import {
  approver,
  type EnvironmentInterface,
  modelMessage,
  type OmniMessage,
  ofType,
  type ToolExecutionRequest,
  userText,
} from "@rookery/core";
import { collectRun, scriptedLLM, tempAgent } from "@rookery/core/testing";

const text = { type: "string" } as const;

class NotesEnvironment implements EnvironmentInterface {
  readonly notes = new Map<string, string>();

  async listTools() {
    const note = { type: "object", properties: { name: text, content: text }, required: ["name"] };
    return [
      { name: "get_note", description: "Read a note.", parameters: note },
      { name: "put_note", description: "Keep a note.", parameters: note },
    ];
  }

  toolPermission(name: string) {
    return name === "get_note" ? "r" : "rw";
  }

  async *executeTool({ toolCall, args }: ToolExecutionRequest): AsyncGenerator<OmniMessage> {
    // `args` is there when a hook has replaced the arguments.
    const note: Record<string, unknown> = args ?? JSON.parse(toolCall.payload.arguments);
    const name = String(note.name);
    if (toolCall.payload.name === "put_note") this.notes.set(name, String(note.content));
    const found = this.notes.get(name);
    yield modelMessage({
      type: "tool_call_output",
      role: "user",
      output: found ?? `there is no note ${name}; use one of ${[...this.notes.keys()].join(", ")}`,
      tool_call_id: toolCall.payload.tool_call_id,
      stop_reason: found === undefined ? "failed" : "completed",
    });
  }
}

const environment = new NotesEnvironment();
const llm = scriptedLLM(
  { calls: [{ name: "put_note", args: { name: "milk", content: "two bottles" } }] },
  {
    calls: [
      { name: "get_note", args: { name: "milk" } },
      { name: "get_note", args: { name: "mlik" } },
    ],
  },
  "Noted.",
);
await using temp = await tempAgent({ createLLM: () => llm, createEnvironment: () => environment });
const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir });
const asked: string[] = [];
const approve = approver({
  mode: "read-only",
  ask: async ({ payload }) => (asked.push(payload.name) > 0 ? "allow" : "deny"),
});
const { messages } = await collectRun(session, [userText("Two bottles of milk")], { approve });

const outputs = ofType(messages, "tool_call_output").map(({ payload }) => payload.output);
for (const output of outputs) console.log(output);
assert.deepEqual(outputs, ["two bottles", "two bottles", "there is no note mlik; use one of milk"]);
assert.deepEqual(asked, ["put_note"]);
