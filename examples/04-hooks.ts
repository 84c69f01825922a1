/*
 * Hooks stand around every call, whoever approves it. `beforeToolCall` can block a call, or replace its arguments; a hook
 * cannot allow anything. `afterToolCall` sees the output before the model, the trace and the screen do, and can replace
 * parts of it: here it takes tokens out.
 */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Hooks, ofType, runToEnd, userText } from "@rookery/core";
import { scriptedLLM, tempAgent } from "@rookery/core/testing";

const hooks: Hooks = {
  async beforeToolCall({ toolCall, args }) {
    const isPush = toolCall.name === "exec_command" && /\bgit\s+push\b/.test(String(args.cmd));
    return isPush ? { block: true, reason: "pushing is left to people" } : undefined;
  },
  async afterToolCall({ result }) {
    return { output: result.output.replace(/\btok_\w+/g, "[token]") };
  },
};

const llm = scriptedLLM(
  {
    calls: [
      { name: "exec_command", args: { description: "Pushes.", cmd: "git push --force" } },
      { name: "read_file", args: { file_path: "settings.ini" } },
    ],
  },
  "I have read the settings.",
);
await using temp = await tempAgent({ createLLM: () => llm, hooks });
await writeFile(join(temp.workspaceDir, "settings.ini"), "user = me\ntoken = tok_a1b2c3\n");
const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir });
const { messages } = await runToEnd(session, [userText("Publish it")], { approve: async () => "allow" });

const outputs = ofType(messages, "tool_call_output").map(({ payload }) => payload.output);
for (const output of outputs) console.log(output);
assert.deepEqual(outputs, [
  "Tool call blocked: pushing is left to people",
  "     1\tuser = me\n     2\ttoken = [token]",
]);
assert.equal(JSON.stringify([messages, llm.requests]).includes("tok_a1b2c3"), false);
