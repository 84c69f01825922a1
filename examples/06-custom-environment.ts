/*
 * Tools that run somewhere else, in a container say, or as here in memory: whatever implements `EnvironmentInterface` can
 * take the place of the built-in environment. It lists its tools, says which of them only read, and answers each call with
 * one complete output. It never throws: what goes wrong is an output as well. `environmentViolations` tries whether that is so.
 */
import assert from "node:assert/strict";
import { type EnvironmentInterface, modelMessage, ofType, type ToolExecutionRequest, userText } from "@rookery/core";
import { collectRun, environmentViolations, scriptedLLM, tempAgent } from "@rookery/core/testing";

class NotesEnvironment implements EnvironmentInterface {
  readonly notes = new Map([["milk", "two bottles"]]);

  async listTools() {
    const parameters = { type: "object", properties: { name: { type: "string" }, content: { type: "string" } } };
    return [
      { name: "get_note", description: "Read a note.", parameters },
      { name: "put_note", description: "Keep a note.", parameters },
    ];
  }

  toolPermission(name: string) {
    if (name === "get_note") return "r";
    return name === "put_note" ? "rw" : undefined;
  }

  async *executeTool({ toolCall: { payload }, args }: ToolExecutionRequest) {
    const found = this.#answer(payload.name, args ?? parsed(payload.arguments));
    yield modelMessage({
      type: "tool_call_output",
      role: "user",
      output: found ?? `nothing is known of that; the notes are ${[...this.notes.keys()].join(", ")}`,
      tool_call_id: payload.tool_call_id,
      stop_reason: found === undefined ? "failed" : "completed",
    });
  }

  #answer(tool: string, note: Record<string, unknown>): string | undefined {
    const name = String(note.name);
    if (tool === "put_note" && note.content !== undefined) this.notes.set(name, String(note.content));
    return this.toolPermission(tool) && this.notes.get(name);
  }
}

function parsed(json: string): Record<string, unknown> {
  try {
    return JSON.parse(json) ?? {};
  } catch {
    return {};
  }
}

const get = { name: "get_note", arguments: { name: "milk" } };
assert.deepEqual(await environmentViolations(() => new NotesEnvironment(), { calls: [get] }), []);

const environment = new NotesEnvironment();
const llm = scriptedLLM(
  {
    calls: [
      { name: "get_note", args: { name: "milk" } },
      { name: "put_note", args: { name: "milk", content: "none" } },
    ],
  },
  "There are two bottles.",
);
await using temp = await tempAgent({ createLLM: () => llm, createEnvironment: () => environment });
const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir });
const { messages } = await collectRun(session, [userText("How much milk?")], {
  approve: async (_toolCall, { permission }) => (permission === "r" ? "allow" : "deny"),
});

const outputs = ofType(messages, "tool_call_output").map(({ payload }) => payload.output);
for (const output of outputs) console.log(output);
// Outputs come as their tools finish, and a refused call finishes at once.
assert.deepEqual(outputs.toSorted(), ["Tool call denied by user.", "two bottles"]);
assert.equal(environment.notes.get("milk"), "two bottles");
