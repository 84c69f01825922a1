import type { Agent, SessionSummary, TraceEntry } from "@rookery/core";
import type { Command } from "commander";
import type { CommandContext } from "../command-line.ts";
import { type AgentFlags, addAgentFlags, addOutputFlag, type OutputMode } from "../flags.ts";
import { jsonLine } from "../render/json-line.ts";
import { oneLine } from "../render/neutralise.ts";
import { transcript } from "../render/transcript.ts";
import { type ErrorReport, errorReport, exitCodeOf, notice, reportError } from "../report-error.ts";
import { sessionOfPart } from "../session-of-part.ts";
import { withAgent } from "../with-agent.ts";
import { defineTransfer } from "./transfer-sessions.ts";
import { defineUndo } from "./undo-session.ts";

interface SessionsFlags extends AgentFlags {
  readonly output?: OutputMode;
}

/** `rookery sessions`: what the agent's sessions left. */
export function defineSessions(program: Command, context: CommandContext): void {
  const sessions = program.command("sessions").description("List, show, undo, move and remove recorded sessions.");
  const add = (name: string, description: string, modes: readonly OutputMode[]): Command =>
    addOutputFlag(addAgentFlags(sessions.command(name).description(description)), modes);

  add("list", "List the agent's sessions, the latest first.", ["text", "json"]).action((flags: SessionsFlags) =>
    withAgent(flags, context, (agent) => list(agent, flags, context)),
  );
  add("show", "Show one: a transcript, an array of its messages, or its lines.", ["text", "json", "stream-json"])
    .argument("<ID>", "as sessions list shows it, or a part of it")
    .action((part: string, flags: SessionsFlags) =>
      withAgent(flags, context, async (agent) => {
        const id = await sessionOfPart(agent, part);
        await show(problemsNoticed(agent.readSession(id), context), flags, context);
      }),
    );
  defineUndo(sessions, context);
  defineTransfer(sessions, context);
  add("remove", "Delete sessions with everything that belongs to them.", ["text", "json"])
    .argument("<ID...>", "as sessions list shows them")
    .action((ids: string[], flags: SessionsFlags) =>
      withAgent(flags, context, (agent) => remove(agent, ids, flags, context)),
    );
}

async function list(agent: Agent, { output }: SessionsFlags, { io, stdout }: CommandContext): Promise<void> {
  const sessions = await agent.listSessions();
  if (output === "json") {
    stdout.write(jsonLine(sessions.map(onTheWire)));
    return;
  }
  if (sessions.length === 0) notice(io, "no sessions are recorded");
  for (const { id, provider, modelId, source, workspace = "?", title, firstText, empty, contexts } of sessions) {
    const nothing = contexts === 0 ? "(cannot be read)" : empty ? "(nothing was said)" : "";
    const about = title ?? firstText ?? nothing;
    const model = source === undefined ? `${provider ?? "?"}/${modelId ?? "?"}` : `${source} of ${modelId ?? "?"}`;
    await stdout.write(`${id}  ${oneLine(workspace)}  ${oneLine(model)}  ${oneLine(about)}\n`);
  }
}

function onTheWire({ id, startedAt, updatedAt, modelId, firstText, ...rest }: SessionSummary): object {
  const dates = { started_at: startedAt, updated_at: updatedAt };
  return { session_id: id, ...dates, ...rest, model_id: modelId, first_text: firstText };
}

/** Goes on behind one that cannot be removed; the exit code is that of the first such. */
async function remove(
  agent: Agent,
  ids: readonly string[],
  { output }: SessionsFlags,
  context: CommandContext,
): Promise<void> {
  const removed: string[] = [];
  const failed: ({ session_id: string } & ErrorReport)[] = [];
  for (const id of ids) {
    try {
      await agent.removeSession(id);
      removed.push(id);
      if (output !== "json") context.stdout.write(`removed ${oneLine(id)}\n`);
    } catch (error) {
      failed.push({ session_id: id, ...errorReport(error) });
      context.exitCode ||= exitCodeOf(error);
      if (output !== "json") reportError(error, context.io);
    }
  }
  if (output === "json") context.stdout.write(jsonLine({ removed, ...(failed.length > 0 && { failed }) }));
}

type Message = Extract<TraceEntry, { message: unknown }>["message"];

/** Goes through the record once, whatever its length. */
async function show(
  messages: AsyncIterable<Message>,
  { output = "text" }: SessionsFlags,
  { io, stdout }: CommandContext,
): Promise<void> {
  const write =
    output === "text" ? transcript(io.stdout.columns || 80) : (message: Message) => jsonLine(message).trimEnd();
  let written = 0;
  for await (const message of messages) {
    const text = write(message);
    if (text === undefined) continue;
    const lead = output === "json" ? (written === 0 ? "[" : ",\n") : "";
    await stdout.write(output === "json" ? `${lead}${text}` : `${text}\n`);
    written += 1;
  }
  if (output === "json") await stdout.write(written === 0 ? "[]\n" : "]\n");
}

/** A damaged line is told of, and the reading goes on. */
async function* problemsNoticed(
  entries: AsyncIterable<TraceEntry>,
  { io }: Pick<CommandContext, "io">,
): AsyncGenerator<Message> {
  for await (const entry of entries) {
    if ("message" in entry) yield entry.message;
    else notice(io, `warning: ${entry.problem}`);
  }
}
