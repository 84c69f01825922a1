import { resolve } from "node:path";
import type { OmniMessage } from "../../../omnimessage/message.ts";
import { toAgentTool } from "../../adapt-builtin-tool.ts";
import type { AgentTool } from "../../agent-tool.ts";
import type { CommandSessionManager, EnvironmentConfig, ToolDefinitionConfig, ToolResult } from "../../contract.ts";
import { outputDelta } from "../../output-delta.ts";
import { childEnvironment } from "../../process/child-environment.ts";
import { commandProblem } from "../../process/command-problem.ts";
import { CommandSession } from "../../process/command-session.ts";
import { followToEnd } from "../../process/follow-to-end.ts";
import { ProcessRegistry } from "../../process/process-registry.ts";
import type { ProcessEnd } from "../../process/run-process.ts";
import { scriptShell } from "../../process/shell.ts";
import { SplitStreams } from "../../process/split-streams.ts";
import type { BuiltinTool, BuiltinToolModule, ToolExecutionContext } from "../../tool.ts";
import { checkLimits } from "./check-limits.ts";

export interface BashToolOptions {
  /** Where commands run; default, at each call: the process's own directory. */
  readonly cwd?: string;
  /** In seconds; then the command is killed and the call rejects with a `TimeoutError`. Default: none of its own. */
  readonly timeout?: number;
  /** Standard output is cut after so many lines; default: not. */
  readonly maxStdoutLines?: number;
  /** The same for standard error. */
  readonly maxStderrLines?: number;
}

/** Of each stream at most 25,000 characters, its middle left out. */
export interface BashDetails {
  readonly command: string;
  readonly cwd: string;
  /** `null` when a signal ended the command. */
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const parameters = {
  type: "object",
  properties: { command: { type: "string", description: "The shell command, run exactly as written." } },
  required: ["command"],
} as const;

const definition: ToolDefinitionConfig = {
  name: "bash",
  description: [
    "Runs a shell command with `bash -lc` and returns what it prints on standard output and standard error.",
    "Each call is a new shell in the same directory; there is no terminal and no standard input.",
    "Processes still running in the background when the command ends are killed.",
  ].join(" "),
  parameters,
  permission: "rw",
  timeoutMs: 120_000,
  maxOutputLength: 16_000,
  truncation: "head_tail",
};

/** Runs a shell command; its two streams are apart in `details` (PI-023 to PI-029). */
export const bash: BuiltinToolModule = { definition, create: (given, config) => bashTool(given, config, {}) };

/**
 * The bash tool for use anywhere. A command that fails is a result with `isError`; one that is aborted rejects. Whatever it
 * left running, in its process group or out of it (Linux), is ended with the call.
 *
 * @throws {RangeError} A limit is not above 0.
 */
export function createBashTool(options: BashToolOptions = {}): AgentTool<typeof parameters, BashDetails> {
  const { cwd, ...limits } = options;
  checkLimits({ ...limits });
  const tool = bashTool(definition, {}, limits);
  // The tool's own limit is then the only one.
  const timeoutMs = limits.timeout === undefined ? undefined : 0;
  return toAgentTool(tool, { label: "Bash", parameters, cwd, ...(timeoutMs !== undefined && { timeoutMs }) });
}

type Limits = Omit<BashToolOptions, "cwd">;
type Place = Pick<EnvironmentConfig, "services" | "vault">;

function bashTool(definition: ToolDefinitionConfig, { services, vault }: Place, limits: Limits): BuiltinTool {
  const kept = services?.commandSessions;
  return {
    name: definition.name,
    definition,
    risk: "process",
    commandText: commandOf,
    approvalSummary: commandOf,
    async *execute(args, context) {
      const commands = kept ?? new ProcessRegistry();
      try {
        return yield* execute(commandOf(args), context, { commands, vault, limits });
      } finally {
        // Without a session nothing else would end what left the command's group.
        if (commands !== kept) await commands.dispose();
      }
    },
  };
}

function commandOf({ command }: Record<string, unknown>): string {
  return typeof command === "string" ? command : "";
}

interface Means {
  readonly commands: CommandSessionManager;
  readonly vault: EnvironmentConfig["vault"];
  readonly limits: Limits;
}

async function* execute(
  command: string,
  { toolCallId, workspaceDir, signal }: ToolExecutionContext,
  { commands, vault, limits }: Means,
): AsyncGenerator<OmniMessage, ToolResult> {
  const problem = commandProblem("command", command);
  if (problem !== undefined) {
    yield outputDelta(toolCallId, problem);
    return { stopReason: "failed" };
  }
  const cwd = resolve(workspaceDir);
  const env = childEnvironment(process.env, vault);
  const { timeout, maxStdoutLines, maxStderrLines } = limits;
  const running = commands.run({
    ...scriptShell(command, env.PATH),
    cwd,
    env,
    ...(signal && { signal }),
    ...(vault && { vault }),
    ...(timeout !== undefined && { deadlineMs: timeout * 1000 }),
  });
  const streams = new SplitStreams(
    {
      ...(maxStdoutLines !== undefined && { stdout: maxStdoutLines }),
      ...(maxStderrLines !== undefined && { stderr: maxStderrLines }),
    },
    vault,
  );
  const session = new CommandSession({ ...running, output: streams.pass(running.output) }, { command, cwd, vault });
  const end = yield* followToEnd(session, toolCallId);
  const { stopReason, note } = verdict(end, timeout);
  const notes = [...streams.notes, ...(note === undefined ? [] : [note])].join("\n");
  const details: BashDetails = { command, cwd, exitCode: end.exitCode, ...streams.end() };
  return { stopReason, note: notes, details };
}

function verdict(
  { outcome, exitCode, signal }: ProcessEnd,
  timeout: number | undefined,
): { stopReason: NonNullable<ToolResult["stopReason"]>; note?: string } {
  if (outcome === "aborted") return { stopReason: "aborted" };
  if (outcome === "timed-out") {
    return { stopReason: "timeout", ...(timeout !== undefined && { note: `[timed out after ${timeout} s]` }) };
  }
  if (outcome === "failed-to-start") return { stopReason: "failed" };
  if (signal !== null) return { stopReason: "failed", note: `[killed by ${signal}]` };
  return exitCode === 0 ? { stopReason: "completed" } : { stopReason: "failed", note: `[exit code ${exitCode}]` };
}
