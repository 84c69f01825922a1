/*
 * The smallest program: an agent, a session, a task, and the answer printed as it streams. A program of your own says
 * `createAgent()` and names a model; here a script answers and everything is kept in a temporary directory, so that the
 * example needs no key and no network.
 */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAgent, userText } from "@rookery/core";
import { scriptedLLM } from "@rookery/core/testing";

const root = await mkdtemp(join(tmpdir(), "rookery-example-"));
const agent = await createAgent({ root, createLLM: () => scriptedLLM("It is an agent harness.") });
const session = await agent.createSession({ workspaceDir: process.cwd() });
const prompt = userText("What does this repository do?");

let reply = "";
for await (const { payload } of session.run([prompt], { approve: async () => "allow" })) {
  if (payload.type === "partial_text") process.stdout.write(payload.text);
  if (payload.type === "abort") console.error(payload.reason);
  if (payload.type === "text") reply = payload.text;
}
console.log();
await agent.dispose();

assert.equal(reply, "It is an agent harness.");
await rm(root, { recursive: true });
