import { randomBytes } from "node:crypto";
import { createReadStream } from "node:fs";
import { open, realpath, rename, rm, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { addAbortSignal } from "node:stream";
import { type Agent, type ExportEntry, errorText, RookeryError } from "@rookery/core";
import type { Command } from "commander";
import type { CommandContext } from "../command-line.ts";
import { type AgentFlags, addAgentFlags, addOutputFlag, type OutputMode } from "../flags.ts";
import { watchInterruption } from "../interruption.ts";
import { jsonLine } from "../render/json-line.ts";
import { notice } from "../report-error.ts";
import { sessionOfPart } from "../session-of-part.ts";
import { withAgent } from "../with-agent.ts";

interface ImportFlags extends AgentFlags {
  readonly asNew?: true;
  readonly output?: OutputMode;
}

/** `rookery sessions export` and `import`: a session as one file, for another machine or for a test. */
export function defineTransfer(sessions: Command, context: CommandContext): void {
  addAgentFlags(
    sessions
      .command("export")
      .description(
        "Write a session as one file of JSON lines, which import and replay take. It holds what the session saw.",
      )
      .argument("<ID>", "as sessions list shows it, or a part of it")
      .argument("[FILE]", "where to; - or nothing: standard output"),
  ).action((part: string, file: string | undefined, flags: AgentFlags) =>
    withAgent(flags, context, async (agent) =>
      exportTo(file ?? "-", agent.exportSession(await sessionOfPart(agent, part)), context),
    ),
  );
  const command = sessions
    .command("import")
    .description("Take in an exported session, to be shown and replayed here. Nothing in it is run.")
    .argument("<FILE>", "what export wrote; - is standard input")
    .option("--as-new", "give it a fresh id, where one with its own is here");
  addOutputFlag(addAgentFlags(command), ["text", "json"]).action((file: string, flags: ImportFlags) =>
    withAgent(flags, context, (agent) => importFrom(file, agent, flags, context)),
  );
}

async function exportTo(file: string, entries: AsyncIterable<ExportEntry>, context: CommandContext): Promise<void> {
  if (file !== "-") return await intoFile(resolve(context.io.cwd, file), entries, context);
  const { io, stdout } = context;
  for await (const line of linesOf(entries, context)) {
    const waiting = stdout.write(io.stdout.isTTY ? jsonLine(JSON.parse(line)) : line);
    if (waiting) await waiting;
  }
}

/** The file appears, or is replaced, when the export is whole. */
async function intoFile(file: string, entries: AsyncIterable<ExportEntry>, context: CommandContext): Promise<void> {
  const target = await realpath(file).catch(() => file);
  const found = await stat(target).catch(() => undefined);
  if (found && !found.isFile()) throw cannotWrite(file, "it is not a file");
  const draft = `${target}.${randomBytes(4).toString("hex")}.tmp`;
  const handle = await open(draft, "wx", 0o600).catch((error: unknown) => {
    throw cannotWrite(file, errorText(error));
  });
  try {
    try {
      for await (const line of linesOf(entries, context)) await handle.appendFile(line);
    } finally {
      await handle.close();
    }
    await rename(draft, target);
  } catch (error) {
    await rm(draft, { force: true });
    throw RookeryError.is(error) ? error : cannotWrite(file, errorText(error));
  }
}

async function* linesOf(entries: AsyncIterable<ExportEntry>, { io }: CommandContext): AsyncGenerator<string> {
  for await (const entry of entries) {
    if ("line" in entry) yield entry.line;
    else notice(io, `warning: ${entry.problem}`);
  }
}

/** Interrupted, it leaves nothing of the session behind. */
async function importFrom(file: string, agent: Agent, flags: ImportFlags, context: CommandContext): Promise<void> {
  const { io, stdout } = context;
  if (file === "-" && io.stdin.isTTY) {
    throw new RookeryError("usage", "standard input is a terminal", { hint: "name a file, or pipe an export in" });
  }
  const interruption = watchInterruption(io, stdout);
  try {
    const chunks = addAbortSignal(
      interruption.signal,
      file === "-" ? io.stdin : createReadStream(resolve(io.cwd, file)),
    );
    const { sessionId, contexts, torn } = await agent.importSession(chunks, { asNew: flags.asNew === true });
    if (torn) notice(io, "warning: the last line was cut off and is left out");
    stdout.write(
      flags.output === "json" ? jsonLine({ session_id: sessionId, contexts, torn }) : `imported ${sessionId}\n`,
    );
  } catch (error) {
    if (interruption.exitCode !== undefined) context.exitCode = interruption.exitCode;
    else throw RookeryError.is(error) ? error : cannotRead(file, error);
  } finally {
    interruption.stop();
  }
}

function cannotRead(file: string, error: unknown): RookeryError {
  return new RookeryError("usage", `cannot read ${file}: ${errorText(error)}`, {
    hint: "name a file that you may read",
  });
}

function cannotWrite(file: string, what: string): RookeryError {
  return new RookeryError("usage", `cannot export to ${file}: ${what}`, { hint: "name a file that you may write" });
}
