/*
 * Interrupting: `signal` ends a run. What was open is closed, running tools are ended, the last message is `abort`, and the
 * outcome says `aborted`; nothing throws. The next run begins with what the interrupted one left unanswered, so that the
 * model knows what it was asked and how far it came.
 */
import assert from "node:assert/strict";
import { isType, type OmniMessage, ofType, runToEnd, userText } from "@rookery/core";
import { scriptedLLM, tempAgent } from "@rookery/core/testing";

// The first reply says this and then nothing more until it is interrupted.
const llm = scriptedLLM({ text: "First I rename the files.", hang: true }, "Then I leave them as they are.");
await using temp = await tempAgent({ createLLM: () => llm });
const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir });

const stop = new AbortController();
const messages: OmniMessage[] = [];
for await (const message of session.run([userText("Tidy up")], { signal: stop.signal })) {
  messages.push(message);
  if (isType(message, "text")) stop.abort();
}
assert.equal(ofType(messages, "request_end")[0]?.payload.status, "aborted");
assert.equal(messages.at(-1)?.payload.type, "abort");

const { outcome } = await runToEnd(session, [userText("Do not rename anything")]);
assert.deepEqual([outcome.status, outcome.text], ["completed", "Then I leave them as they are."]);

const carried = ofType(llm.requests[1]?.newMessages ?? [], "text").map(({ payload }) => payload.text);
console.log(carried.join("\n\n"));
assert.match(carried[0] ?? "", /^\[turn_aborted\].*Tidy up.*First I rename the files\..*\[\/turn_aborted\]$/s);
assert.equal(carried[1], "Do not rename anything");
