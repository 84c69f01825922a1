import { isType } from "../omnimessage/guards.ts";
import type { EventPayload, OmniMessage } from "../omnimessage/message.ts";
import { type AgentEvent, wholeMessage } from "./agent-event.ts";
import { type AgentMessage, toUserMessage } from "./agent-message.ts";
import { ReplyView } from "./reply-view.ts";
import { ToolCallsView } from "./tool-calls-view.ts";

/** The events of a whole run. @param input - What the run was given. @param stream - What it streamed. */
export function agentEvents(input: readonly OmniMessage[], stream: Iterable<OmniMessage>): AgentEvent[] {
  const view = new AgentEventView(input);
  const events = view.begin();
  for (const message of stream) events.push(...view.push(message));
  return [...events, ...view.end()];
}

/**
 * Sees one run as pi's events.
 *
 * A turn is one request with the results of its calls; an attempt that fails is a turn of its own. Calls may run while
 * the reply still streams: what is said of them comes after its `message_end`. The results of calls come as messages in
 * the order of the calls, each as soon as those before it have ended. What child sessions say is left out.
 */
export class AgentEventView {
  readonly #messages: AgentMessage[];
  #turn: Turn | undefined;
  /** What was said to the run since its last turn; each text begins a message. */
  #said: OmniMessage[][] = [];

  constructor(input: readonly OmniMessage[]) {
    this.#messages = [toUserMessage(input)].filter((message) => message !== undefined);
  }

  begin(): AgentEvent[] {
    return [{ type: "agent_start" }, { type: "turn_start" }, ...this.#messages.flatMap(wholeMessage)];
  }

  push(message: OmniMessage): AgentEvent[] {
    if (message.origin !== undefined) return [];
    if (isType(message, "request_begin")) return this.#open(message.timestamp);
    if (isUserInput(message)) return this.#hear(message);
    const turn = this.#turn;
    if (turn === undefined) return [];
    if (isType(message, "request_end") && !turn.reply.isOver)
      return [...this.#endReply(turn, message.payload), ...this.#closeIfDone(turn)];
    const said = turn.reply.isOver ? [] : turn.reply.push(message);
    const done = turn.calls.push(message);
    if (turn.reply.isOver) return [...said, ...done, ...this.#closeIfDone(turn)];
    turn.held.push(...done);
    return said;
  }

  end(): AgentEvent[] {
    return [...this.#close(), { type: "agent_end", messages: [...this.#messages] }];
  }

  #hear(message: OmniMessage): AgentEvent[] {
    if (isType(message, "text") || this.#said.length === 0) this.#said.push([message]);
    else this.#said.at(-1)?.push(message);
    return [];
  }

  /** The first turn has begun with the prompt. */
  #open(timestamp: string): AgentEvent[] {
    const isFirst = !this.#messages.some(({ role }) => role === "assistant") && this.#turn === undefined;
    const closed = this.#close();
    this.#turn = { reply: new ReplyView(timestamp), calls: new ToolCallsView(), held: [], isCommitted: false };
    const said = this.#said.splice(0).flatMap((input) => toUserMessage(input) ?? []);
    this.#messages.push(...said);
    return [...closed, ...(isFirst ? [] : [{ type: "turn_start" } as const]), ...said.flatMap(wholeMessage)];
  }

  #endReply(turn: Turn, end: EventPayload<"request_end">): AgentEvent[] {
    turn.isCommitted = end.status === "completed";
    return [...turn.reply.end(end), ...turn.held.splice(0)];
  }

  #closeIfDone({ isCommitted, reply, calls }: Turn): AgentEvent[] {
    return isCommitted && calls.haveResults(reply.callIds) ? this.#close() : [];
  }

  #close(): AgentEvent[] {
    if (this.#turn === undefined) return [];
    const { reply, calls } = this.#turn;
    const rest = reply.isOver ? [] : this.#endReply(this.#turn, { type: "request_end", status: "aborted" });
    const results = calls.flush();
    const { message } = reply;
    this.#turn = undefined;
    this.#messages.push(message, ...calls.results);
    return [...rest, ...results, { type: "turn_end", message, toolResults: calls.results }];
  }
}

function isUserInput({ payload }: OmniMessage): boolean {
  const { type, role } = payload as { type?: string; role?: string };
  return role === "user" && (type === "text" || type === "image_url" || type === "inline_data");
}

interface Turn {
  readonly reply: ReplyView;
  readonly calls: ToolCallsView;
  /** What was said of calls before the reply was over. */
  readonly held: AgentEvent[];
  isCommitted: boolean;
}
