import type { Agent, TraceEntry } from "@rookery/core";
import type { Command } from "commander";
import type { CommandContext } from "../command-line.ts";
import { type AgentFlags, addAgentFlags, addOutputFlag, type OutputMode } from "../flags.ts";
import type { OutputStream } from "../output-stream.ts";
import { oneLine } from "../render/neutralise.ts";
import { transcript } from "../render/transcript.ts";
import { notice } from "../report-error.ts";
import { withAgent } from "../with-agent.ts";

interface SessionsFlags extends AgentFlags {
  readonly output?: OutputMode;
}

/** `rookery sessions`: what the agent's sessions left. */
export function defineSessions(program: Command, context: CommandContext): void {
  const { stdout } = context;
  const sessions = program.command("sessions").description("List, show and remove recorded sessions.");
  const add = (name: string, description: string, modes: readonly OutputMode[]): Command =>
    addOutputFlag(addAgentFlags(sessions.command(name).description(description)), modes);

  add("list", "List the agent's sessions, the latest first.", ["text", "json"]).action((flags: SessionsFlags) =>
    withAgent(flags, context, (agent) => list(agent, flags, stdout)),
  );
  add("show", "Show one: a transcript, an array of its messages, or its lines.", ["text", "json", "stream-json"])
    .argument("<ID>", "as sessions list shows it")
    .action((id: string, flags: SessionsFlags) =>
      withAgent(flags, context, (agent) => show(problemsNoticed(agent.readSession(id), context), flags, context)),
    );
  add("remove", "Delete sessions with everything that belongs to them.", ["text", "json"])
    .argument("<ID...>", "as sessions list shows them")
    .action((ids: string[], flags: SessionsFlags) =>
      withAgent(flags, context, async (agent) => {
        for (const id of ids) {
          await agent.removeSession(id);
          if (flags.output !== "json") stdout.write(`removed ${id}\n`);
        }
        if (flags.output === "json") stdout.write(`${JSON.stringify({ removed: ids })}\n`);
      }),
    );
}

async function list(agent: Agent, { output }: SessionsFlags, stdout: OutputStream): Promise<void> {
  const sessions = await agent.listSessions();
  if (output === "json") {
    stdout.write(`${JSON.stringify(sessions)}\n`);
    return;
  }
  for (const { id, provider, modelId, title, firstText, empty } of sessions) {
    const about = title ?? firstText ?? (empty ? "(nothing was said)" : "");
    await stdout.write(`${id}  ${oneLine(`${provider ?? "?"}/${modelId ?? "?"}`)}  ${oneLine(about)}\n`);
  }
}

type Message = Extract<TraceEntry, { message: unknown }>["message"];

/** Goes through the record once, whatever its length. */
async function show(
  messages: AsyncIterable<Message>,
  { output = "text" }: SessionsFlags,
  { io, stdout }: CommandContext,
): Promise<void> {
  const write = output === "text" ? transcript(io.stdout.columns || 80) : (message: Message) => JSON.stringify(message);
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
