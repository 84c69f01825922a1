/*
 * A tool of your own: a name, a JSON Schema, and one function from arguments to a result. The type of the arguments follows
 * from the schema, written as a literal here; one built with TypeBox does as well. `onUpdate` shows people how far the
 * call has come; the model gets `content` only, and `details` are for programs.
 */
import assert from "node:assert/strict";
import { defineTool, ofType, runToEnd, userText } from "@rookery/core";
import { scriptedLLM, tempAgent } from "@rookery/core/testing";

const countWords = defineTool({
  name: "count_words",
  label: "Count words",
  description: "Count the words of each text.",
  parameters: {
    type: "object",
    properties: { texts: { type: "array", items: { type: "string" }, description: "The texts to count." } },
    required: ["texts"],
  },
  risk: "read_only",
  async execute(_toolCallId, { texts }, signal, onUpdate) {
    const counts: number[] = [];
    for (const text of texts) {
      signal?.throwIfAborted();
      counts.push(text.split(/\s+/).filter(Boolean).length);
      onUpdate?.({ content: [{ type: "text", text: `${counts.length} of ${texts.length}` }] });
    }
    return { content: [{ type: "text", text: counts.join(", ") }], details: { counts } };
  },
});

const llm = scriptedLLM(
  { calls: [{ name: "count_words", args: { texts: ["to be or not", "to be"] } }] },
  "Four words, and two.",
);
// `createAgent` on a temporary directory, with an empty workspace.
await using temp = await tempAgent({ createLLM: () => llm, tools: [countWords] });
const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir });
const { outcome, messages } = await runToEnd(session, [userText("How long are they?")], {
  approve: async () => "allow",
});

for (const { payload } of ofType(messages, "tool_progress")) console.log(payload.text);
const [output] = ofType(messages, "tool_call_output");
console.log(output?.payload.output);

assert.deepEqual(
  ofType(messages, "tool_progress").map(({ payload }) => payload.text),
  ["1 of 2", "2 of 2"],
);
assert.equal(output?.payload.output, "4, 2");
assert.deepEqual(output.payload.details, { counts: [4, 2] });
assert.equal(outcome.text, "Four words, and two.");
