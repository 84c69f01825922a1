/*
 * What sessions leave: every session records the messages it streams, without the fragments, and an agent lists and reads
 * them again, after a crash too. Here the tokens of a session are added up from its record; and the stream of its run,
 * with the fragments joined, turns out to be what was recorded.
 */
import assert from "node:assert/strict";
import { isSessionMeta, type OmniMessage, ofType, runToEnd, userText } from "@rookery/core";
import { aggregateAll, isOnRecord } from "@rookery/core/omnimessage";
import { scriptedLLM, tempAgent } from "@rookery/core/testing";

const llm = scriptedLLM({ calls: [{ name: "read_file", args: { file_path: "todo.txt" } }] }, "There is no such file.");
await using temp = await tempAgent({ createLLM: () => llm });
const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir });
const input = userText("What is left to do?");
const { messages } = await runToEnd(session, [input], { approve: async () => "allow" });
await session.dispose();

const [summary] = await temp.agent.listSessions();
assert.ok(summary);
console.log(`${summary.id}: ${summary.firstText}`);

const recorded: OmniMessage[] = [];
for await (const entry of temp.agent.readSession(summary.id)) {
  // A line that cannot be read is told of instead; everything else is there.
  if ("problem" in entry) console.log(entry.problem);
  else recorded.push(entry.message);
}
const tokens = ofType(recorded, "token_usage").reduce((sum, { payload }) => sum + payload.request.total, 0);
console.log(`${recorded.length} records, ${tokens} tokens`);

assert.equal(summary.firstText, "What is left to do?");
assert.equal(tokens, 30);
const [head, said, ...rest] = recorded;
assert.ok(head && isSessionMeta(head));
assert.deepEqual(said, input);
assert.deepEqual(aggregateAll(messages).filter(isOnRecord), rest);
