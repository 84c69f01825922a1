/*
 * A model of your own: anything that turns new messages into a reply is an `LLMInterface`. This one reads whatever file it
 * is told to and reports how many lines it has. It may yield whole messages or fragments of them, ends with what it used,
 * and returns how the request went; a failure is returned, never thrown. `createLLM` is called once per model context,
 * with the prompt and the tools, and no key is asked for.
 */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  assistantText,
  type CreateLLM,
  createToolCallIdAllocator,
  eventMessage,
  modelMessage,
  type OmniMessage,
  ofType,
  userText,
} from "@rookery/core";
import { collectRun, tempAgent } from "@rookery/core/testing";

const lineCounter: CreateLLM = ({ tools }) => {
  const ids = createToolCallIdAllocator();
  return {
    async *streamGenerate({ newMessages }) {
      if (!tools.some(({ name }) => name === "read_file")) {
        return { status: "failed", permanent: true, message: "this model needs the tool read_file" };
      }
      yield reply(newMessages, ids.allocate(""));
      const request = { cache_read: 0, cache_write: newMessages.length, output: 1, total: newMessages.length + 1 };
      yield eventMessage({ type: "token_usage", request, session: request });
      return { status: "completed" };
    },
  };
};

/** A call for a user's text, an answer for the output of the call. */
function reply(newMessages: readonly OmniMessage[], tool_call_id: string): OmniMessage {
  const [output] = ofType(newMessages, "tool_call_output");
  if (output) return assistantText(`It has ${output.payload.output.split("\n").length} lines.`);
  const file_path = ofType(newMessages, "text").at(-1)?.payload.text;
  const args = JSON.stringify({ file_path });
  return modelMessage({ type: "tool_call", role: "assistant", name: "read_file", arguments: args, tool_call_id });
}

await using temp = await tempAgent({ createLLM: lineCounter });
await writeFile(join(temp.workspaceDir, "poem.txt"), "Roses are red\nViolets are blue\n");
const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir });
// Runs the task and checks the rules of the protocol on its stream and its trace.
const { outcome } = await collectRun(session, [userText("poem.txt")], { approve: async () => "allow" });

console.log(outcome.text);
assert.equal(outcome.text, "It has 2 lines.");
assert.deepEqual([outcome.status, outcome.turns, outcome.usage.output], ["completed", 2, 2]);
