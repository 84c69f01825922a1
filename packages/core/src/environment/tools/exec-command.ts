import { resolve } from "node:path";
import type { OmniMessage } from "../../omnimessage/message.ts";
import type { EnvironmentConfig, ToolDefinitionConfig, ToolResult } from "../contract.ts";
import { outputDelta } from "../output-delta.ts";
import { childEnvironment } from "../process/child-environment.ts";
import { CommandOutput } from "../process/command-output.ts";
import { ProcessRegistry } from "../process/process-registry.ts";
import type { ProcessEnd } from "../process/run-process.ts";
import { shellCommand } from "../process/shell.ts";
import { streamProcess } from "../process/stream-process.ts";
import type { BuiltinTool, BuiltinToolModule, ToolExecutionContext } from "../tool.ts";

const definition: ToolDefinitionConfig = {
  name: "exec_command",
  description: [
    "Runs a shell command with `bash -lc` and returns what it prints on standard output and standard error, and its exit code.",
    "Each call is a new shell: `cd` and variables do not last until the next one.",
    "There is no terminal and no standard input; an editor, a pager or a password prompt fails at once.",
    "Processes still running in the background when the command ends are killed.",
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
    },
    required: ["description", "cmd"],
  },
};

/** Runs a shell command in the foreground (PT-091, PT-092, PT-097 to PT-100). */
export const execCommand: BuiltinToolModule = { definition, create };

function create(definition: ToolDefinitionConfig, config: EnvironmentConfig): BuiltinTool {
  const sessions = config.services?.commandSessions;
  const registry = sessions instanceof ProcessRegistry ? sessions : new ProcessRegistry();
  return {
    name: definition.name,
    definition,
    risk: "process",
    commandText: (args) => commandOf(args),
    paths: ({ workdir }) => (typeof workdir === "string" && !workdir.includes("\0") ? { read: [workdir] } : {}),
    approvalSummary: (args, { workspaceDir }) => summary(args, workspaceDir),
    execute: (args, context) => execute(args, context, config.vault, registry),
  };
}

type Args = Record<string, unknown>;

async function* execute(
  args: Args,
  context: ToolExecutionContext,
  vault: Readonly<Record<string, string>> | undefined,
  registry: ProcessRegistry,
): AsyncGenerator<OmniMessage, ToolResult> {
  const command = commandOf(args);
  const problem = argumentProblem(command, args.workdir);
  if (problem !== undefined) {
    yield outputDelta(context.toolCallId, problem);
    return { stopReason: "failed" };
  }
  const cwd = directoryOf(args, context.workspaceDir);
  const env = childEnvironment(process.env, vault);
  const shell = shellCommand(command, env.PATH);
  const { signal } = context;
  const running = registry.run({ ...shell, cwd, env, ...(signal && { signal }), ...(vault && { vault }) });
  const output = new CommandOutput(vault);
  try {
    yield* streamProcess(running, output, context.toolCallId);
    const end = await running.ended;
    if (end.error !== undefined) yield outputDelta(context.toolCallId, end.error);
    const { ansi } = output;
    const { exitCode, signal, durationMs } = end;
    return { ...verdict(end), details: { command, cwd, exitCode, signal, durationMs, ...(ansi && { ansi }) } };
  } finally {
    // Nobody reads on when the call was given up.
    await running.stop();
  }
}

function verdict({ outcome, exitCode, signal }: ProcessEnd): ToolResult {
  if (outcome === "aborted") return { stopReason: "aborted" };
  if (outcome === "timed-out") return { stopReason: "timeout" };
  if (outcome === "failed-to-start") return { stopReason: "failed" };
  if (signal !== null) return { stopReason: "failed", note: `[killed by ${signal}]` };
  return { stopReason: exitCode === 0 ? "completed" : "failed", note: `[exit code ${exitCode}]` };
}

function argumentProblem(command: string, workdir: unknown): string | undefined {
  if (command.trim() === "") return "cmd is empty; give the shell command to run";
  if (command.includes("\0"))
    return "cmd holds a NUL byte, which no command can; remove it or print it with printf '\\0'";
  if (String(workdir).includes("\0")) return "workdir holds a NUL byte, which no path can; remove it";
  return undefined;
}

function summary(args: Args, workspaceDir: string): string {
  const directory = directoryOf(args, workspaceDir);
  const lines = [commandOf(args)];
  if (directory !== resolve(workspaceDir)) lines.push(`in ${directory}`);
  // One line and named as what it is, so that it cannot pass for the command or for where it runs.
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
