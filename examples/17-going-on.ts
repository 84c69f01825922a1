// A session is steered while it works, given up, and taken up again where its record ends.
import assert from "node:assert/strict";
import { defineTool, userText } from "@rookery/core";
import { scriptedLLM, tempAgent } from "@rookery/core/testing";

const measure = defineTool({
  name: "measure",
  label: "Measure",
  description: "Measures a place.",
  parameters: { type: "object", properties: { place: { type: "string" } }, required: ["place"] },
  risk: "read_only",
  execute: async (_id, { place }) => ({ content: [{ type: "text", text: `${place}: 12 metres` }], details: undefined }),
});

await using home = await tempAgent({ tools: [measure] });
const approve = async () => "allow" as const;

const first = scriptedLLM(
  { calls: [{ name: "measure", args: { place: "hall" } }] },
  "The hall is 12 m long, so 39 ft.",
);
const session = await home.agent.createSession({ ...home, createLLM: () => first });
for await (const { payload } of session.run([userText("How long is the hall?")], { approve })) {
  // Said while the tool runs: the next request brings it.
  if (payload.type === "tool_call") session.steer([userText("In feet, please.")]);
}
const said = first.requests[1]?.newMessages.map(({ payload }) => ("text" in payload ? payload.text : payload.type));
assert.deepEqual(said, ["tool_call_output", "[user_steering]\nIn feet, please.\n[/user_steering]"]);
await session.dispose();

// Perhaps days later, in another process: the id is enough.
const later = scriptedLLM("You asked for feet.");
const resumed = await home.agent.resumeSession(session.sessionId, {
  createLLM: (_config, history) => {
    assert.equal(history.length, 5, "what was said and done before");
    return later;
  },
});
for await (const { payload } of resumed.run([userText("In what unit?")], { approve })) {
  if (payload.type === "text") console.log(payload.text);
}
assert.equal(resumed.spent.turns, 3);
