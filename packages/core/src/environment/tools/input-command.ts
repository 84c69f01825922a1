import type { OmniMessage } from "../../omnimessage/message.ts";
import { callLimits } from "../call-limits.ts";
import type { EnvironmentConfig, ToolDefinitionConfig, ToolResult } from "../contract.ts";
import { outputDelta } from "../output-delta.ts";
import { endReport, howItEnded, runningReport } from "../process/command-report.ts";
import type { CommandSession } from "../process/command-session.ts";
import type { CommandSessions } from "../process/command-sessions.ts";
import { foregroundWindowMs } from "../process/foreground-window.ts";
import { ProcessRegistry } from "../process/process-registry.ts";
import { streamSession } from "../process/stream-session.ts";
import type { BuiltinTool, BuiltinToolModule, ToolExecutionContext } from "../tool.ts";

const WRITE_WINDOW_MS = 250;
const POLL_WINDOW_MS = 5000;

const CTRL_C = "\x03";
const CTRL_D = "\x04";

const definition: ToolDefinitionConfig = {
  name: "input_command",
  description: [
    "Drives a command that goes on in the background, by the process_id that exec_command returned: writes to its standard input, sends Ctrl-C, or waits for output.",
    "Returns what it printed since the last time, and its exit code once it has ended.",
  ].join(" "),
  permission: "rw",
  timeoutMs: 130_000,
  maxOutputLength: 16_000,
  truncation: "head_tail",
  parameters: {
    type: "object",
    properties: {
      description: { type: "string", description: "One sentence for the user on what this call does. Give it first." },
      process_id: { type: "string", description: "The process_id that exec_command returned." },
      chars: {
        type: "string",
        description:
          "What to write to standard input, line ends included. \\u0003 alone is Ctrl-C, \\u0004 alone the end of input. Empty: only wait for output.",
      },
      yield_time_ms: {
        type: "number",
        description: "How long to wait for output. Default: 250 after writing, 5000 otherwise; at least 250.",
      },
    },
    required: ["description", "process_id"],
  },
};

/** Writes to a command in the background, interrupts it, or reads on (PT-101 to PT-109). */
export const inputCommand: BuiltinToolModule = { definition, create };

function create(definition: ToolDefinitionConfig, config: EnvironmentConfig): BuiltinTool {
  const { sessions } = config.services?.commandSessions ?? new ProcessRegistry();
  const { timeoutMs } = callLimits(definition);
  return {
    name: definition.name,
    definition,
    risk: "process",
    // A shell in the background takes it for a command, which policy and deny rules have to see. `eval` keeps rules that
    // allow commands from allowing what is typed into a program that nobody knows.
    commandText: (args) => (["", CTRL_C, CTRL_D].includes(charsOf(args)) ? undefined : `eval ${charsOf(args)}`),
    approvalSummary: (args) => summary(args, sessions),
    execute(args, context) {
      const defaultMs = charsOf(args) === "" ? POLL_WINDOW_MS : WRITE_WINDOW_MS;
      return execute(args, context, sessions, foregroundWindowMs(args.yield_time_ms, defaultMs, timeoutMs));
    },
  };
}

type Args = Record<string, unknown>;

async function* execute(
  args: Args,
  { toolCallId, signal }: ToolExecutionContext,
  sessions: CommandSessions,
  windowMs: number,
): AsyncGenerator<OmniMessage, ToolResult> {
  const id = processIdOf(args);
  const session = sessions.find(id);
  const chars = charsOf(args);
  const problem = session === undefined ? sessions.explainMissing(id) : await charsProblem(session, chars);
  if (session === undefined || problem !== undefined) {
    yield outputDelta(toolCallId, problem ?? "");
    return { stopReason: "failed" };
  }
  const isSent = await send(session, chars);
  yield* streamSession(session, { toolCallId, windowMs, signal });
  if (session.end === undefined) {
    const report = runningReport(session, id);
    return isSent ? report : { ...report, note: `${NOT_SENT}\n${report.note}` };
  }
  // What came while the window closed.
  yield* streamSession(session, { toolCallId });
  sessions.remove(id, howItEnded(session.end));
  return endReport(session, session.end, id);
}

const NOT_SENT = "[nothing was sent: the command has closed its standard input]";

async function charsProblem(session: CommandSession, chars: string): Promise<string | undefined> {
  if (chars === CTRL_C || !chars.includes(CTRL_C) || (await session.input)?.isTerminal) return undefined;
  return "nothing was sent: Ctrl-C (\\u0003) among other characters has no meaning in a pipe; send \\u0003 alone";
}

/** Delivers the characters; false when nobody reads them. */
async function send(session: CommandSession, chars: string): Promise<boolean> {
  const input = await session.input;
  if (chars === "" || input === undefined) return true;
  if (chars === CTRL_C && !input.isTerminal) await session.interrupt();
  else if (chars === CTRL_D) input.end();
  else return input.write(chars);
  return true;
}

function summary(args: Args, sessions: CommandSessions): string {
  const id = processIdOf(args);
  const chars = charsOf(args);
  const what = chars === "" ? "read on" : chars === CTRL_C ? "send Ctrl-C" : `send ${JSON.stringify(chars)}`;
  const command = sessions.peek(id)?.started.command;
  return command === undefined ? `${what}: ${id}` : `${what}: ${id}\nwhich runs: ${command}`;
}

function processIdOf(args: Args): string {
  return typeof args.process_id === "string" ? args.process_id : "";
}

function charsOf(args: Args): string {
  return typeof args.chars === "string" ? args.chars : "";
}
