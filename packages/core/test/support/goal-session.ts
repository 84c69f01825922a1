import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { CompactionSettings } from "../../src/engine/compaction/settings.ts";
import type { RunOptions } from "../../src/engine/run-outcome.ts";
import { defineTool } from "../../src/environment/agent-tool.ts";
import { userText } from "../../src/omnimessage/build.ts";
import { readGoalInput } from "../../src/omnimessage/goal-input.ts";
import type { OmniMessage } from "../../src/omnimessage/message.ts";
import type { Session } from "../../src/session/session.ts";
import { type CollectedRun, collectRun, type ScriptedTurn, scriptedLLM, tempAgent } from "../../src/testing/index.ts";

/** A session whose model can write its control file whole, with the tool `report`, or do something else with `work`. */
export async function goalSession(
  turns: readonly ScriptedTurn[],
  {
    work = () => undefined,
    ...options
  }: { work?: (file: string) => void; maxTurns?: number; compaction?: CompactionSettings } = {},
): Promise<{
  readonly session: Session;
  readonly file: string;
  /** What each request brought. */
  readonly requests: readonly { readonly newMessages: readonly OmniMessage[] }[];
  readonly run: (options?: RunOptions, input?: readonly OmniMessage[]) => Promise<CollectedRun>;
}> {
  const llm = scriptedLLM(...turns);
  let file = "";
  const parameters = { type: "object" as const, properties: { content: { type: "string" as const } } };
  const tool = (name: string, act: (content: string) => void) =>
    defineTool({
      name,
      label: name,
      description: name,
      parameters,
      execute: async (_id, { content = "" }: { content?: string }) => {
        act(content);
        return { content: [{ type: "text", text: `${name}: done` }] };
      },
    });
  const home = await tempAgent({
    createLLM: () => llm,
    tools: [tool("report", (content) => writeFileSync(file, content)), tool("work", () => work(file))],
  });
  onTestFinished(() => home.dispose());
  const session = await home.agent.createSession({ ...home, ...options });
  const scratchpad = join(home.root, "default_project/agents/default_agent/scratchpad", session.sessionId);
  file = join(scratchpad, "GOAL.yaml");
  const approve = async (): Promise<"allow"> => "allow";
  return {
    session,
    file,
    requests: llm.requests,
    run: (given = {}, input = [userText(OBJECTIVE)]) => collectRun(session, input, { approve, goal: {}, ...given }),
  };
}

export const OBJECTIVE = "Make it pass.\n";

/** A reply that writes the control file. */
export function report(status: string): { calls: [{ name: string; args: { content: string } }] } {
  return { calls: [{ name: "report", args: { content: `objective: mine\nstatus: ${status}\n` } }] };
}

export const WORK = { calls: [{ name: "work", args: {} }] } as const;

/** The rounds whose beginning is among the messages. */
export function roundsIn(messages: readonly OmniMessage[]): number[] {
  return messages.flatMap((message) => readGoalInput(message)?.round ?? []);
}

/** Puts a directory in the place of a file. */
export function replaceByDirectory(file: string): void {
  if (existsSync(file)) rmSync(file);
  mkdirSync(file);
}
