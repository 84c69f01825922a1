/*
 * The built-in model with no provider behind it: a server on the loopback speaks a provider's protocol over HTTP and
 * answers from a script, so that everything between an agent and its provider is tried, faults included. Here the service
 * is overloaded at first, and the request is made again. What comes back from the agent is compared with what the server
 * gave out, the signature of the thinking too.
 */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ofType, runToEnd, userText } from "@rookery/core";
import { startProviderServer, tempAgent } from "@rookery/core/testing";

await using server = await startProviderServer({
  replies: [
    {
      thinking: "The answer should be in the file.",
      calls: [{ name: "read_file", args: { file_path: "answer.txt" } }],
      faults: [{ kind: "http-error", error: "overloaded", retryAfter: 0 }],
    },
    // A reply can also be computed: then `replies` is a function of the request.
    "It is 42.",
  ],
});
await using temp = await tempAgent();
await writeFile(join(temp.workspaceDir, "answer.txt"), "42\n");

// With `openai-chat`, `openai-responses` or `google` the same script is spoken in another protocol.
const session = await temp.agent.createSession({
  workspaceDir: temp.workspaceDir,
  provider: "custom",
  modelId: "claude-sonnet-4-5",
  clientType: "anthropic-messages",
  baseUrl: server.baseUrl("anthropic-messages"),
  thinkingLevel: "high",
});
const { outcome, messages } = await runToEnd(session, [userText("What is the answer?")], {
  approve: async () => "allow",
});
for (const { payload } of ofType(messages, "request_end")) console.log(payload.status, payload.error_message ?? "");
console.log(outcome.text);

assert.equal(outcome.text, "It is 42.");
assert.deepEqual(
  ofType(messages, "request_end").map(({ payload }) => payload.status),
  ["timeout", "completed", "completed"],
);
assert.equal(server.requests.length, 3);
assert.equal(server.requests[2]?.body.messages.at(-1).content[0].type, "tool_result");
assert.deepEqual(server.problems, []);
