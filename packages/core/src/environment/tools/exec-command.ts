import { resolve } from "node:path";
import type { OmniMessage } from "../../omnimessage/message.ts";
import { callLimits } from "../call-limits.ts";
import type { CommandSessionManager, EnvironmentConfig, ToolDefinitionConfig, ToolResult } from "../contract.ts";
import { outputDelta } from "../output-delta.ts";
import { childEnvironment } from "../process/child-environment.ts";
import { commandProblem } from "../process/command-problem.ts";
import { endReport, runningReport } from "../process/command-report.ts";
import { CommandSession } from "../process/command-session.ts";
import { foregroundWindowMs } from "../process/foreground-window.ts";
import { ProcessRegistry } from "../process/process-registry.ts";
import { scriptShell, shellCommand } from "../process/shell.ts";
import { streamSession } from "../process/stream-session.ts";
import type { BuiltinTool, BuiltinToolModule, ToolExecutionContext } from "../tool.ts";

const DEFAULT_WINDOW_MS = 60_000;

const definition: ToolDefinitionConfig = {
  name: "exec_command",
  description: [
    "Runs a shell command with `bash -lc` and returns what it prints on standard output and standard error, and its exit code.",
    "A command that is not done within yield_time_ms goes on in the background: the call returns what it printed so far and a process_id for input_command, and you are told when it ends.",
    "Each call is a new shell: `cd` and variables do not last until the next one.",
    "Standard input stays open for input_command; give `</dev/null` to a program that would read it (rg without a path).",
    "There is no terminal: an editor, a pager or a password prompt fails at once.",
    "Processes that a command started with & are killed when the command ends; use run_in_background for what shall go on.",
  ].join(" "),
  permission: "rw",
  timeoutMs: 120_000,
  maxOutputLength: 16_000,
  truncation: "head_tail",
  parameters: {
    type: "object",
    properties: {
      description: { type: "string", description: "One sentence for the user on what this call does. Give it first." },
      cmd: { type: "string", description: "The shell command, run exactly as written." },
      workdir: {
        type: "string",
        description: "The directory to run it in, absolute or relative to the workspace. Default: the workspace.",
      },
      yield_time_ms: {
        type: "number",
        description:
          "How long to wait for the end before the command goes on in the background. Default: 60000, at least 250.",
      },
      run_in_background: {
        type: "boolean",
        description:
          "Return the process_id at once and let the command go on: for servers and watchers. Default: false.",
      },
    },
    required: ["description", "cmd"],
  },
};

/** Runs a shell command, in the foreground for a while, then in the background (PT-091 to PT-100). */
export const execCommand: BuiltinToolModule = { definition, create };

function create(definition: ToolDefinitionConfig, config: EnvironmentConfig): BuiltinTool {
  const commands = config.services?.commandSessions ?? new ProcessRegistry();
  const { timeoutMs } = callLimits(definition);
  return {
    name: definition.name,
    definition,
    risk: "process",
    commandText: (args) => commandOf(args),
    paths: ({ workdir }) => (typeof workdir === "string" && !workdir.includes("\0") ? { read: [workdir] } : {}),
    approvalSummary: (args, { workspaceDir }) => summary(args, workspaceDir),
    execute(args, context) {
      const windowMs = foregroundWindowMs(args.yield_time_ms, DEFAULT_WINDOW_MS, timeoutMs);
      return execute(args, context, { commands, vault: config.vault, windowMs });
    },
  };
}

type Args = Record<string, unknown>;

interface Setting {
  readonly commands: CommandSessionManager;
  readonly vault: Readonly<Record<string, string>> | undefined;
  readonly windowMs: number;
}

async function* execute(
  args: Args,
  context: ToolExecutionContext,
  setting: Setting,
): AsyncGenerator<OmniMessage, ToolResult> {
  const { toolCallId, signal } = context;
  const problem = argumentProblem(commandOf(args), args.workdir);
  if (problem !== undefined) {
    yield outputDelta(toolCallId, problem);
    return { stopReason: "failed" };
  }
  const session = start(args, context.workspaceDir, setting);
  let goesOn = false;
  try {
    const couldStart = (await session.input) !== undefined;
    if (!couldStart) await session.ended;
    else if (args.run_in_background !== true) {
      yield* streamSession(session, { toolCallId, windowMs: setting.windowMs, signal });
    }
    if (signal?.aborted) await session.stop(signal.reason);
    else if (session.end === undefined) {
      goesOn = true;
      return runningReport(session, setting.commands.sessions.keep(session, toolCallId));
    }
    const end = await session.ended;
    // What came while the window closed.
    if (session.hasUnread) yield* streamSession(session, { toolCallId });
    if (end.error !== undefined) yield outputDelta(toolCallId, end.error);
    return endReport(session, end);
  } finally {
    // Nobody reads on when the call was given up.
    if (!goesOn && session.end === undefined) await session.stop();
  }
}

function start(args: Args, workspaceDir: string, { commands, vault }: Setting): CommandSession {
  const command = commandOf(args);
  const cwd = directoryOf(args, workspaceDir);
  const env = childEnvironment(process.env, vault);
  const hasTerminal = args.tty === true;
  const running = commands.run({
    ...(hasTerminal ? shellCommand : scriptShell)(command, env.PATH),
    cwd,
    env,
    input: hasTerminal ? "terminal" : "pipe",
    ...(vault && { vault }),
  });
  return new CommandSession(running, { command, cwd, vault });
}

function argumentProblem(command: string, workdir: unknown): string | undefined {
  const hasNul = String(workdir).includes("\0");
  return (
    commandProblem("cmd", command) ?? (hasNul ? "workdir holds a NUL byte, which no path can; remove it" : undefined)
  );
}

function summary(args: Args, workspaceDir: string): string {
  const directory = directoryOf(args, workspaceDir);
  const lines = [commandOf(args)];
  // One line each and named as what they are, so that they cannot pass for the command or for one another.
  if (directory !== resolve(workspaceDir))
    lines.push(`in ${/\s/.test(directory) ? JSON.stringify(directory) : directory}`);
  if (args.run_in_background === true) lines.push("in the background, until the session ends");
  const description = typeof args.description === "string" ? args.description.replaceAll(/\s+/g, " ").trim() : "";
  if (description !== "") lines.push(`the model says: ${description}`);
  return lines.join("\n");
}

function commandOf(args: Args): string {
  return typeof args.cmd === "string" ? args.cmd : "";
}

function directoryOf(args: Args, workspaceDir: string): string {
  return resolve(workspaceDir, typeof args.workdir === "string" ? args.workdir : "");
}
