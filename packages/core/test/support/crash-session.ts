// Works on one session until its task is done, resuming it where there is one: parallel tools that write files, retries
// without waiting, a context that is soon full. Prints `ready` when it begins and `done` when the task is over.
import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { createAgent } from "../../src/agent/agent.ts";
import { defineTool } from "../../src/environment/agent-tool.ts";
import { userText } from "../../src/omnimessage/build.ts";

const [directory = "", clientType = "", modelId = "", baseUrl = ""] = process.argv.slice(2);
const workspaceDir = join(directory, "workspace");

const note = defineTool({
  name: "note",
  label: "Note",
  description: "Notes a step.",
  parameters: { type: "object", properties: { step: { type: "integer" } }, required: ["step"] },
  async execute(toolCallId, { step }: { step: number }) {
    appendFileSync(join(directory, "calls"), `${toolCallId}\n`);
    await pause(step % 10);
    writeFileSync(join(workspaceDir, `note-${step}.txt`), `${step}\n`);
    const receipt = Math.random().toString(36).slice(2);
    const text = `step-${step} is done, receipt ${receipt}.\n${"and so on ".repeat(150)}`;
    return { content: [{ type: "text", text }], details: undefined };
  },
});

const agent = await createAgent({
  root: join(directory, "root"),
  env: { PATH: process.env.PATH, CUSTOM_API_KEY: "sk-ant-canary-1111" },
  tools: [note],
  onWarning: ({ code, message }) => process.stderr.write(`${code}: ${message}\n`),
});
const compaction = { maxContextTokens: 3_800, maxSessionTurns: 8, keepRecentTokens: 200, keepOutputTokens: 500 };
const options = { provider: "custom", modelId, clientType, baseUrl, compaction, systemPrompt: "Do the steps." };
const latest = await agent.latestSessionId();
const session = latest
  ? await agent.resumeSession(latest, options)
  : await agent.createSession({ ...options, workspaceDir });
setInterval(() => session.skipReconnectWait(), 5).unref();
process.stdout.write("ready\n");
const prompt = userText(latest ? "Go on." : "Do all steps.");
const run = session.run([prompt], { approve: async () => "allow" });
for (let step = await run.next(); ; step = await run.next()) {
  if (!step.done) continue;
  process.stdout.write(step.value.status === "completed" ? "done\n" : `${JSON.stringify(step.value)}\n`);
  break;
}
await agent.dispose();
