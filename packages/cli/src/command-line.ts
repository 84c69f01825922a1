import type { Agent, createAgent } from "@rookery/core";
import { RookeryError } from "@rookery/core";
import { Command, CommanderError } from "commander";
import type { Io } from "./io.ts";
import type { OutputStream } from "./output-stream.ts";

/** What a command is given. */
export interface CommandContext {
  readonly io: Io;
  readonly stdout: OutputStream;
  readonly openAgent: (...options: Parameters<typeof createAgent>) => Promise<Agent>;
  /** Set by the command; 0 when it says nothing. */
  exitCode: number;
}

/** Adds a command to the program: its flags and what it does. */
export type DefineCommand = (program: Command, context: CommandContext) => void;

/**
 * Reads the arguments of one command and runs it.
 *
 * @throws {RookeryError} `usage` for what the command does not know, with the nearest thing it does.
 */
export async function runCommandLine(
  define: DefineCommand,
  argv: readonly string[],
  context: CommandContext,
): Promise<number> {
  const { io, stdout } = context;
  const program = new Command("rookery");
  program
    .exitOverride()
    .helpCommand(false)
    .configureOutput({
      writeOut: (text) => void stdout.write(text),
      writeErr: (text) => void io.stderr.write(text),
      outputError: () => undefined,
      getOutHelpWidth: () => io.stdout.columns ?? 100,
      getErrHelpWidth: () => io.stderr.columns ?? 100,
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    });
  define(program, context);
  try {
    await program.parseAsync(argv, { from: "user" });
    return context.exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return 0;
    throw usageError(error, argv);
  }
}

function usageError(error: CommanderError, argv: readonly string[]): RookeryError {
  if (error.code === "commander.help") {
    return new RookeryError("usage", `${argv.join(" ")} needs a subcommand`, { hint: "take one of those above" });
  }
  const [what = "", suggestion] = error.message.replace(/^error: /, "").split("\n");
  const near = suggestion?.match(/^\(Did you mean (.*)\?\)$/)?.[1];
  return new RookeryError("usage", what.replace(/\.$/, ""), {
    hint: near ? `did you mean ${near}?` : otherHint(error, what),
  });
}

function otherHint({ code }: CommanderError, what: string): string {
  if (code === "commander.excessArguments") return "put a text with blanks into quotes";
  if (/^unknown option '-+($|[^-\w]|.*\s)/s.test(what)) return "write -- before a text that begins with -";
  if (/'ID(\.\.\.)?'$/.test(what)) return "rookery sessions list shows the ids";
  return "see --help";
}
