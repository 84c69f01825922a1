import type { Agent } from "@rookery/core";
import type { CommandContext } from "./command-line.ts";
import { type AgentFlags, agentOptions, debugFileOf } from "./flags.ts";
import { notice, warningNotice } from "./report-error.ts";

/** Opens the agent that the flags name, and disposes of it and all it opened, however `use` ends. */
export async function withAgent<T>(
  flags: AgentFlags,
  { io, openAgent }: CommandContext,
  use: (agent: Agent) => Promise<T>,
): Promise<T> {
  const debugFile = debugFileOf(flags, io.cwd);
  const agent = await openAgent({
    ...agentOptions(flags),
    ...(debugFile !== undefined && { debugFile }),
    env: io.env,
    onWarning: warningNotice(io),
  });
  if (debugFile !== undefined) notice(io, `requests and answers are added to ${debugFile}`);
  try {
    return await use(agent);
  } finally {
    await agent.dispose();
  }
}
