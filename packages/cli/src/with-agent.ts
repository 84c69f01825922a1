import { resolve } from "node:path";
import type { Agent } from "@rookery/core";
import type { CommandContext } from "./command-line.ts";
import { type AgentFlags, agentOptions } from "./flags.ts";
import { notice, warningNotice } from "./report-error.ts";

/** Opens the agent that the flags name, and disposes of it and all it opened, however `use` ends. */
export async function withAgent<T>(
  flags: AgentFlags,
  { io, openAgent }: CommandContext,
  use: (agent: Agent) => Promise<T>,
): Promise<T> {
  const debugFile = flags.debug === undefined ? undefined : resolve(io.cwd, flags.debug);
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
