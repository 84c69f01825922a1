import { expect, test } from "vitest";
import { addModel } from "../src/agent/edit-project-config.ts";
import { agentPaths } from "../src/agent/paths.ts";
import type { ToolDefinitionConfig } from "../src/environment/contract.ts";
import { Environment } from "../src/environment/environment.ts";
import type { BuiltinTool, ToolExecutionContext } from "../src/environment/tool.ts";
import { STANDARD_TOOLSET } from "../src/environment/tool-registry.ts";
import type { GenerativeModelConfig } from "../src/llm/contract.ts";
import { userText } from "../src/omnimessage/build.ts";
import { ofType } from "../src/omnimessage/guards.ts";
import { collectRun, scriptedLLM, tempAgent } from "../src/testing/index.ts";
import { startStrictServer } from "./support/strict-server.ts";

function tool(
  name: string,
  definition: Partial<BuiltinTool["definition"]> = {},
  seen: ToolExecutionContext[] = [],
): BuiltinTool {
  return {
    name,
    definition: { name, description: `What ${name} does.`, ...definition },
    // biome-ignore lint/correctness/useYield: it has nothing to say.
    async *execute(_args, context) {
      seen.push(context);
    },
  };
}

test("a call's own id and its workspace reach the tool (PT-020, PT-021, PI-022)", async () => {
  const seen: ToolExecutionContext[] = [];
  const llm = scriptedLLM({ calls: [{ name: "look", args: {}, id: "call_abc" }] }, "done");
  await using temp = await tempAgent({ createLLM: () => llm, tools: [tool("look", {}, seen)] });
  const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir });
  const { trace } = await collectRun(session, [userText("Go")], { approve: async () => "allow" });
  expect(seen).toMatchObject([{ toolCallId: "call_abc", workspaceDir: temp.workspaceDir }]);
  const call = ofType(trace, "tool_call")[0]?.payload;
  expect(call).toMatchObject({ role: "assistant", tool_call_id: "call_abc" });
});

test("description and parameters reach the model as they are written, and the prompt as it was assembled (PT-071, PT-072, PC-032)", async () => {
  const server = await startStrictServer({ scripts: { default: ["ok"] } });
  const parameters = {
    type: "object",
    properties: { depth: { type: "integer", minimum: 1, description: "How deep." } },
    required: ["depth"],
  };
  await using temp = await tempAgent({
    env: { LOCAL_API_KEY: "key-1" },
    tools: [tool("dig", { description: "Digs.\n  Twice.", parameters })],
  });
  const session = await temp.agent.createSession({
    workspaceDir: temp.workspaceDir,
    provider: "local",
    modelId: "compat-1",
    baseUrl: `${server.url}/v1`,
  });
  const { outcome } = await collectRun(session, [userText("Go")]);
  expect(outcome.status).toBe("completed");
  const body = server.log[0]?.body as {
    messages: { role: string; content: string }[];
    tools: { function: { name: string } }[];
  };
  expect(body.tools.find((sent) => sent.function.name === "dig")?.function).toMatchObject({
    description: "Digs.\n  Twice.",
    parameters,
  });
  expect(body.messages[0]).toMatchObject({ role: "system", content: session.meta.system_prompt });
  expect(session.meta.system_prompt).not.toMatch(/\{\{|\$\{|undefined/);
  expect(server.violations).toEqual([]);
  await server.close();
});

test("the argument description is part of a definition like any other: one that is written without it is offered without it (PT-083)", async () => {
  const [shipped] = STANDARD_TOOLSET.filter(({ name }) => name === "exec_command");
  const parameters = { type: "object", properties: { cmd: { type: "string" } }, required: ["cmd"] };
  const offered = async (definition: ToolDefinitionConfig): Promise<unknown> => {
    const toolConfig = { customTools: [definition], mcpServers: [] };
    return (await new Environment({ workspaceDir: "/", toolConfig }).listTools())[0]?.parameters;
  };
  expect(shipped?.parameters?.properties).toMatchObject({ description: { type: "string" } });
  expect(await offered({ name: "exec_command", description: "Runs.", ...shipped })).toEqual(shipped?.parameters);
  expect(await offered({ name: "exec_command", description: "Runs.", parameters })).toEqual(parameters);
});

test("forModel offers a tool to the models of its class, and a tool without it to every model (PT-074, PT-075, PT-076)", async () => {
  const tools = [tool("see", { forModel: "vision" }), tool("hear", { forModel: "text-only" }), tool("any")];
  await using temp = await tempAgent({ tools });
  const offered = async (vision: boolean): Promise<string[]> => {
    const { projectConfigFile } = agentPaths(temp.root, "default_project", "default_agent");
    await addModel(projectConfigFile, { provider: "local", model_id: "m", base_url: "http://127.0.0.1:9/v1", vision });
    const names: string[] = [];
    const session = await temp.agent.createSession({
      workspaceDir: temp.workspaceDir,
      provider: "local",
      modelId: "m",
    });
    for await (const message of session.run([userText("Go")])) {
      if (message.payload.type !== "tool_list_ready") continue;
      names.push(...message.payload.tools.map(({ name }) => name));
      break;
    }
    return names.filter((name) => ["see", "hear", "any"].includes(name));
  };
  expect(await offered(true)).toEqual(["see", "any"]);
  expect(await offered(false)).toEqual(["hear", "any"]);
});

test("an injected model is given the tools it is offered at first and the assembled prompt (PC-031)", async () => {
  const configs: GenerativeModelConfig[] = [];
  await using temp = await tempAgent({
    createLLM: (config) => {
      configs.push(config);
      return scriptedLLM("ok");
    },
  });
  const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir, thinkingLevel: "low" });
  await collectRun(session, [userText("Go")]);
  expect(configs).toHaveLength(1);
  expect(configs[0]).toMatchObject({
    modelId: "custom",
    thinkingLevel: "low",
    systemPrompt: session.meta.system_prompt,
  });
  expect(configs[0]?.tools.map(({ name }) => name)).toEqual(
    STANDARD_TOOLSET.filter(({ forModel }) => forModel !== "vision").map(({ name }) => name),
  );
});
