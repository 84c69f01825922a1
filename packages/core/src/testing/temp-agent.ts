import { mkdir, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Agent, createAgent } from "../agent/agent.ts";
import type { AgentOptions } from "../agent/agent-options.ts";

/** An agent on a data directory of its own, and an empty workspace. */
export interface TempAgent {
  readonly agent: Agent;
  readonly root: string;
  readonly workspaceDir: string;
  /** Disposes of the agent and removes both directories. */
  dispose(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Makes an agent for one test; warnings are dropped unless `onWarning` is given. */
export async function tempAgent(options: AgentOptions = {}): Promise<TempAgent> {
  const directory = await realpath(await mkdtemp(join(tmpdir(), "rookery-test-")));
  const root = join(directory, "root");
  const workspaceDir = join(directory, "workspace");
  await mkdir(workspaceDir);
  const agent = await createAgent({ root, env: {}, onWarning: () => undefined, ...options });
  const dispose = async (): Promise<void> => {
    await agent.dispose();
    await rm(directory, { recursive: true, force: true });
  };
  return { agent, root, workspaceDir, dispose, [Symbol.asyncDispose]: dispose };
}
