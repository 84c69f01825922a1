/*
 * pi's `AgentHarness`: the application's own context is handed to every tool, and its type is checked. A tool that throws
 * because something is not permitted is answered like any other failure; the session goes on.
 */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AgentHarness, type AgentHarnessTool } from "@rookery/core/pi";
import { startProviderServer } from "@rookery/core/testing";
import { Type } from "typebox";

interface ToolContext {
  readonly userId: string;
  readonly environment: "dev" | "staging" | "prod";
  readonly permissions: readonly string[];
}

const parameters = Type.Object({
  service: Type.String(),
  environment: Type.Enum(["dev", "staging", "prod"]),
});

const contexts: ToolContext[] = [];
const tool: AgentHarnessTool<ToolContext, typeof parameters> = {
  name: "deploy_service",
  label: "Deploy Service",
  description: "Deploy service to environment",
  parameters,
  execute: async (_toolCallId, params, _signal, _onUpdate, context) => {
    contexts.push(context);
    if (!context.permissions.includes(`deploy:${params.environment}`)) throw new Error("Permission denied");
    return {
      content: [{ type: "text", text: `${context.userId} deployed ${params.service} to ${params.environment}` }],
    };
  },
};

const deploy = (environment: string) => ({
  calls: [{ name: "deploy_service", args: { service: "shop", environment } }],
});
const server = await startProviderServer({ replies: [deploy("prod"), deploy("staging"), "It is on staging."] });
const directory = await mkdtemp(join(tmpdir(), "rookery-example-"));
const toolContext: ToolContext = { userId: "user123", environment: "staging", permissions: ["read", "deploy:staging"] };
const harness = new AgentHarness({
  tools: [tool],
  toolContext,
  model: { id: "local", provider: "custom", api: "openai-completions", baseUrl: server.baseUrl("openai-chat") },
  cwd: directory,
  root: join(directory, "root"),
});

await harness.prompt("Deploy the shop.");
const results = harness.state.messages.filter((message) => message.role === "toolResult");
for (const { content } of results) console.log(JSON.stringify(content));
assert.deepEqual(
  results.map(({ content, isError }) => [content[0]?.type === "text" && content[0].text, isError]),
  [
    ["Permission denied", true],
    ["user123 deployed shop to staging", false],
  ],
);
assert.ok(contexts.length === 2 && contexts.every((context) => context === toolContext));
assert.equal(harness.state.errorMessage, undefined);

await harness.dispose();
await server.close();
await rm(directory, { recursive: true });
