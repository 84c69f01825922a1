import { resolve } from "node:path";
import type { CommandSessionManager, ToolDefinitionConfig, ToolResult } from "../../environment/contract.ts";
import { outputDelta } from "../../environment/output-delta.ts";
import { callDeadlineMs, TIMEOUT_SECONDS } from "../../environment/process/call-deadline.ts";
import { CommandSession } from "../../environment/process/command-session.ts";
import { followToDeadline } from "../../environment/process/follow-to-end.ts";
import type { BuiltinTool, ToolExecutionContext } from "../../environment/tool.ts";
import { errorText } from "../../errors/error-text.ts";
import type { OmniMessage } from "../../omnimessage/message.ts";
import { type AgentExecutable, findAgentExecutable, sameExecutable } from "./agent-executable.ts";
import type { AgentSettings } from "./agent-settings.ts";
import { delegationSummary } from "./delegation-summary.ts";
import { quotedWords } from "./visible-text.ts";

/** What native agents are started with, beside their own settings. */
export interface AgentHost {
  readonly commandSessions: Pick<CommandSessionManager, "run">;
  /** The whole environment of an agent; its `PATH` is searched. */
  readonly env: NodeJS.ProcessEnv;
  /** Where agents are configured, as an error names it. */
  readonly configFile: string;
}

const TIMEOUT_MS = 1_800_000;

/**
 * The tool `agent_<name>`: the program of another agent, started directly with its fixed arguments and the prompt as one
 * more (PE-034 to PE-047).
 *
 * The program is looked for when a call is assessed. What runs is what was shown; where something else has taken its
 * place, the call fails.
 */
export function nativeAgent(name: string, settings: AgentSettings, host: AgentHost): BuiltinTool {
  const definition = definitionOf(name);
  const find = (): AgentExecutable => {
    try {
      return findAgentExecutable(settings.executable, host.env.PATH);
    } catch (error) {
      const advice = `install it, or name another as native_agents.${name}.executable in ${host.configFile}`;
      throw new Error(`${errorText(error)}; ${advice}`);
    }
  };
  return {
    name: definition.name,
    definition,
    risk: "delegate",
    approvalSummary: (args, { workspaceDir }) =>
      delegationSummary({ name, executable: find(), args: settings.args ?? [], prompt: promptOf(args), workspaceDir }),
    assessState: find,
    async *execute(args, context) {
      let argv: [string, ...string[]];
      try {
        argv = [sameExecutable(find(), context.state).path, ...(settings.args ?? []), promptOf(args)];
      } catch (error) {
        yield outputDelta(context.toolCallId, `${definition.name} was not run: ${errorText(error)}`);
        return { stopReason: "failed" };
      }
      return yield* start(argv, callDeadlineMs(args.timeout_seconds, TIMEOUT_MS), context, host);
    },
  };
}

function definitionOf(name: string): ToolDefinitionConfig {
  return {
    name: `agent_${name}`,
    description: [
      `Starts the agent ${name} in the workspace with a prompt, and returns what it prints until it is done.`,
      "It knows nothing of this conversation: the prompt has to say all it needs.",
    ].join(" "),
    parameters: {
      type: "object",
      properties: {
        prompt: { type: "string", description: "What the agent is to do." },
        timeout_seconds: TIMEOUT_SECONDS,
      },
      required: ["prompt"],
    },
    permission: "rw",
    timeoutMs: TIMEOUT_MS,
    maxOutputLength: 16_000,
    truncation: "head_tail",
  };
}

function promptOf({ prompt }: Record<string, unknown>): string {
  if (typeof prompt !== "string" || prompt.trim() === "") {
    throw new Error("prompt is empty; say what the agent is to do");
  }
  if (prompt.includes("\0")) throw new Error("prompt holds a NUL character, which no argument can; give it without");
  return prompt;
}

async function* start(
  [file, ...args]: [string, ...string[]],
  deadlineMs: number | undefined,
  { toolCallId, workspaceDir, signal }: ToolExecutionContext,
  { commandSessions, env }: AgentHost,
): AsyncGenerator<OmniMessage, ToolResult> {
  const cwd = resolve(workspaceDir);
  const defined = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const running = commandSessions.run({
    file,
    args,
    cwd,
    env: Object.fromEntries(defined),
    ...(signal && { signal }),
    ...(deadlineMs !== undefined && { deadlineMs }),
  });
  const command = quotedWords([file, ...args.slice(0, -1)]);
  return yield* followToDeadline(new CommandSession(running, { command, cwd }), toolCallId, deadlineMs);
}
