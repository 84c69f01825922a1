import { resolve } from "node:path";
import type { OmniMessage } from "../../../omnimessage/message.ts";
import { callLimits } from "../../call-limits.ts";
import type { ToolDefinitionConfig, ToolResult } from "../../contract.ts";
import { outputDelta } from "../../output-delta.ts";
import { callDeadlineMs, TIMEOUT_SECONDS } from "../../process/call-deadline.ts";
import { childEnvironment } from "../../process/child-environment.ts";
import { commandProblem } from "../../process/command-problem.ts";
import { CommandSession } from "../../process/command-session.ts";
import { followToDeadline } from "../../process/follow-to-end.ts";
import { ProcessRegistry } from "../../process/process-registry.ts";
import type { BuiltinToolModule } from "../../tool.ts";

const definition: ToolDefinitionConfig = {
  name: "bash",
  description: [
    "Runs a shell command with `/bin/bash -lc` in the workspace and returns what it prints on standard output and standard error, and its exit code.",
    "Each call is a new shell: `cd` and variables do not last; there is no terminal and no standard input.",
    "Processes still running in the background when the command ends are killed.",
  ].join(" "),
  parameters: {
    type: "object",
    properties: {
      command: { type: "string", description: "The shell command, run exactly as written." },
      timeout_seconds: TIMEOUT_SECONDS,
    },
    required: ["command"],
  },
  permission: "rw",
  timeoutMs: 600_000,
  maxOutputLength: 16_000,
  truncation: "head_tail",
};

/** Runs a shell command to its end (PE-022 to PE-033). */
export const bash: BuiltinToolModule = {
  definition,
  create(definition, { services, vault }) {
    const commands = services?.commandSessions ?? new ProcessRegistry();
    const { timeoutMs } = callLimits(definition);
    return {
      name: definition.name,
      definition,
      risk: "process",
      commandText: commandOf,
      approvalSummary: (args) => summaryOf(commandOf(args), callDeadlineMs(args.timeout_seconds, timeoutMs)),
      async *execute(args, { toolCallId, workspaceDir, signal }): AsyncGenerator<OmniMessage, ToolResult> {
        const command = commandOf(args);
        const problem = commandProblem("command", command);
        if (problem !== undefined) {
          yield outputDelta(toolCallId, problem);
          return { stopReason: "failed" };
        }
        const cwd = resolve(workspaceDir);
        const deadlineMs = callDeadlineMs(args.timeout_seconds, timeoutMs);
        const running = commands.run({
          file: "/bin/bash",
          args: ["-lc", command],
          cwd,
          env: childEnvironment(process.env, vault),
          ...(signal && { signal }),
          ...(vault && { vault }),
          ...(deadlineMs !== undefined && { deadlineMs }),
        });
        return yield* followToDeadline(new CommandSession(running, { command, cwd, vault }), toolCallId, deadlineMs);
      },
    };
  },
};

function summaryOf(command: string, deadlineMs: number | undefined): string {
  return deadlineMs === undefined ? command : `${command}\nfor at most ${deadlineMs / 1000} s`;
}

function commandOf({ command }: Record<string, unknown>): string {
  return typeof command === "string" ? command : "";
}
