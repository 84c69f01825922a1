import { type Agent, createAgent } from "../agent/agent.ts";
import type { Injection, SessionOptions } from "../agent/agent-options.ts";
import { Environment } from "../environment/environment.ts";
import type { Session } from "../session/session.ts";
import type { AgentOptions } from "./agent-options.ts";
import { type Model, streamFnModel } from "./stream-fn.ts";

/** A session and the Rookery agent that it belongs to alone. */
export interface OpenedSession {
  readonly agent: Agent;
  readonly session: Session;
}

/** Opens the session of one of pi's agents. @throws {RookeryError} As `createAgent` and `createSession`. */
export async function openSession(options: AgentOptions): Promise<OpenedSession> {
  const { initialState = {}, root, onWarning, cwd = process.cwd() } = options;
  const agent = await createAgent({
    ...(root !== undefined && { root }),
    ...(onWarning && { onWarning }),
    ...injection(options),
  });
  try {
    const { model, systemPrompt = "", thinkingLevel } = initialState;
    const session = await agent.createSession({
      workspaceDir: cwd,
      systemPrompt,
      ...(model && modelOptions(model)),
      ...(thinkingLevel && { thinkingLevel }),
    });
    return { agent, session };
  } catch (error) {
    await agent.dispose();
    throw error;
  }
}

function injection(options: AgentOptions): Injection {
  const { initialState = {}, streamFn, toolExecution, toolContext, beforeToolCall, afterToolCall } = options;
  const { model = { id: "custom", provider: "custom" }, tools = [] } = initialState;
  return {
    tools,
    createEnvironment: (config) =>
      new Environment({ ...config, toolConfig: { customTools: [], mcpServers: [] }, toolSources: [] }),
    hooks: { ...(beforeToolCall && { beforeToolCall }), ...(afterToolCall && { afterToolCall }) },
    ...(streamFn && { createLLM: streamFnModel(streamFn, model) }),
    ...(toolExecution && { toolExecution }),
    ...(toolContext !== undefined && { toolContext }),
  };
}

/** pi's words for the protocols, where they are not ours. */
const CLIENT_TYPES: Readonly<Record<string, string>> = {
  "openai-completions": "openai-chat",
  "google-generative-ai": "google",
};

function modelOptions({ id, provider, api, baseUrl }: Model): Partial<SessionOptions> {
  return {
    provider,
    modelId: id,
    ...(api !== undefined && { clientType: CLIENT_TYPES[api] ?? api }),
    ...(baseUrl !== undefined && { baseUrl }),
  };
}
