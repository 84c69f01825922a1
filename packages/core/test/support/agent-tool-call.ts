import type { AgentTool, AgentToolResult } from "../../src/environment/agent-tool.ts";

/** What a tool that is called outside any session answers: its blocks of text, the details, whether it failed. */
export async function callAgentTool(
  // biome-ignore lint/suspicious/noExplicitAny: any tool will do.
  tool: AgentTool<any, any>,
  params: Record<string, unknown>,
  signal?: AbortSignal,
): Promise<{ text: string; details: unknown; isError: boolean; content: AgentToolResult["content"] }> {
  const { content, details, isError = false } = await tool.execute("run_1", params, signal);
  const text = content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
  return { text, details, isError, content };
}
