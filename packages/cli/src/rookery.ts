import { createAgent, RookeryError } from "@rookery/core";
import { type CommandContext, type DefineCommand, runCommandLine } from "./command-line.ts";
import { defineConfig } from "./commands/config.ts";
import { defineDemo } from "./commands/demo.ts";
import { defineDoctor } from "./commands/doctor.ts";
import { defineReplay } from "./commands/replay.ts";
import { defineRun } from "./commands/run.ts";
import { defineSessions } from "./commands/sessions.ts";
import { defineTool } from "./commands/tool.ts";
import { FAILED, PIPE_CLOSED, signalExitCodes } from "./exit-code.ts";
import { FIRST_STEPS, helpText } from "./help.ts";
import type { Io } from "./io.ts";
import { OutputStream } from "./output-stream.ts";
import { jsonLine } from "./render/json-line.ts";
import { errorReport, exitCodeOf, notice, reportError } from "./report-error.ts";
import { VERSION } from "./version.ts";

/**
 * The whole program as a function: reads the arguments, runs one command, and never throws.
 *
 * @param dependencies.createAgent - In place of the core's, for tests.
 * @returns The exit code (docs/cli.md), when everything has been written.
 */
export async function rookery(
  argv: readonly string[],
  io: Io,
  dependencies: { createAgent?: typeof createAgent } = {},
): Promise<number> {
  const stdout = new OutputStream(io.stdout);
  // Whoever reads the messages may leave before the program does.
  io.stderr.on("error", () => undefined);
  const openAgent: CommandContext["openAgent"] = dependencies.createAgent ?? createAgent;
  const exitCode = await answer(argv, { io, stdout, openAgent, exitCode: 0 });
  await stdout.flush();
  return stdout.broken.aborted && exitCode < 128 ? brokenOutput(stdout.broken.reason, io) : exitCode;
}

async function answer(argv: readonly string[], context: CommandContext): Promise<number> {
  try {
    return await dispatch(argv, context);
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") return signalExitCodes.SIGINT;
    if (!wantsJson(argv)) return reportError(error, context.io);
    context.stdout.write(jsonLine({ status: "failed", error: errorReport(error) }));
    return exitCodeOf(error);
  }
}

async function dispatch(argv: readonly string[], context: CommandContext): Promise<number> {
  const [name, about] = argv;
  if (name === "help" && about !== undefined) return dispatch([...argv.slice(1), "--help"], context);
  if (name === undefined || ["help", "--help", "-h", "--version"].includes(name)) {
    context.stdout.write(
      name === undefined ? FIRST_STEPS : name === "--version" ? `${VERSION}\n` : helpText(summaries()),
    );
    return 0;
  }
  const command = commands.find((candidate) => candidate.name === name);
  if (command === undefined) throw unknownCommand(name);
  return runCommandLine(command.define, argv, context);
}

interface CommandEntry {
  readonly name: string;
  readonly summary: string;
  readonly define: DefineCommand;
}

const commands: readonly CommandEntry[] = [
  { name: "demo", summary: "watch a recorded agent repair a small project; no key needed", define: defineDemo },
  {
    name: "run",
    summary: "do one task: rookery run [PROMPT]",
    define: defineRun,
  },
  {
    name: "tool",
    summary: "list tools, or run one without a model: tool list | call NAME [JSON | -] | call -",
    define: defineTool,
  },
  {
    name: "sessions",
    summary: "what was recorded: sessions list | show | undo | export ID | import FILE | remove ID…",
    define: defineSessions,
  },
  { name: "replay", summary: "run a recorded session again: replay TRACE [--check]", define: defineReplay },
  {
    name: "doctor",
    summary: "what works on this machine, and what to do where something does not",
    define: defineDoctor,
  },
  {
    name: "config",
    summary:
      "the project: config model add | list | test | default | vision | remove, rules list | add | remove | check, policy list",
    define: defineConfig,
  },
];

function summaries(): [name: string, summary: string][] {
  return commands.map(({ name, summary }) => [name, summary]);
}

function unknownCommand(name: string): RookeryError {
  const kind = name.startsWith("-") ? "option" : "command";
  const known = kind === "option" ? ["--help", "--version"] : commands.map((command) => command.name);
  return new RookeryError("usage", `unknown ${kind} ${JSON.stringify(name)}`, {
    hint: `use one of ${known.join(", ")}`,
  });
}

/** Looked for in the arguments as they are, since a failure may be that they cannot be read. */
function wantsJson(argv: readonly string[]): boolean {
  const end = argv.indexOf("--");
  const flags = end === -1 ? argv : argv.slice(0, end);
  return flags.some((flag, i) => flag === "--output=json" || (flag === "json" && flags[i - 1] === "--output"));
}

function brokenOutput(reason: unknown, io: Io): number {
  const code = reason instanceof Error && "code" in reason ? String(reason.code) : String(reason);
  if (code === "EPIPE") return PIPE_CLOSED;
  notice(io, `cannot write to standard output: ${code}; make room, or send it elsewhere`);
  return FAILED;
}
