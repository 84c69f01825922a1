import type { ToolSource } from "../../environment/contract.ts";
import { type AgentSettings, SHIPPED_AGENTS } from "./agent-settings.ts";
import { type AgentHost, nativeAgent } from "./native-agent.ts";

/**
 * The tools `agent_<name>`: those that the person has configured, in the order of the file.
 *
 * @param which - `shipped`: after the shipped ones, or in the place of those of the same name.
 */
export function agentSource(
  which: "configured" | "shipped",
  configured: Readonly<Record<string, AgentSettings>>,
  host: AgentHost,
): ToolSource {
  const agents = { ...(which === "shipped" && SHIPPED_AGENTS), ...configured };
  const tools = Object.entries(agents).map(([name, settings]) => nativeAgent(name, settings, host));
  return { id: "native-agents", tools: async () => tools, dispose: () => undefined };
}
