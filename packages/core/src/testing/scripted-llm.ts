import type { GenerativeModelParameters, LLMInterface, LLMOutcome } from "../llm/contract.ts";
import { eventMessage, modelMessage } from "../omnimessage/build.ts";
import type { FinishReason, OmniMessage, TokenCounts } from "../omnimessage/message.ts";

/** A call of a scripted reply; `args` may be text, to be sent as it is. */
export interface ScriptedCall {
  readonly name: string;
  readonly args: unknown;
  /** Default: `call_1`, `call_2` … over the life of the model. */
  readonly id?: string;
  /** `malformed`: the reply's length limit cut it. */
  readonly stopReason?: "malformed";
}

/** One reply: thinking, then text, then calls. */
export interface ScriptedReply {
  readonly thinking?: string;
  readonly text?: string;
  readonly calls?: readonly ScriptedCall[];
  readonly finishReason?: FinishReason;
  readonly usage?: Partial<TokenCounts>;
  /** Ends the request with this instead of `completed`, after what the reply says. */
  readonly outcome?: LLMOutcome;
  /** Waits, after what the reply says, until the request is aborted. */
  readonly hang?: boolean;
}

/** A reply, a text, or a generator of one's own. */
export type ScriptedTurn = string | ScriptedReply | LLMInterface["streamGenerate"];

/** A model that answers from a list and keeps what it was asked. */
export interface ScriptedLLM extends LLMInterface {
  /** The parameters of every request so far. */
  readonly requests: readonly GenerativeModelParameters[];
}

/** Makes a model whose replies are given in advance, one turn a request; asked for more, or nothing new, it fails for good. */
export function scriptedLLM(...turns: readonly ScriptedTurn[]): ScriptedLLM {
  const requests: GenerativeModelParameters[] = [];
  const ids = { next: 1 };
  return {
    requests,
    async *streamGenerate(parameters) {
      const turn = turns[requests.length];
      requests.push(parameters);
      if (parameters.newMessages.length === 0) {
        return { status: "failed", permanent: true, message: "a request needs at least one new message, got none" };
      }
      if (turn === undefined) {
        return { status: "failed", permanent: true, message: `the script has ${turns.length} turns and no more` };
      }
      if (typeof turn === "function") return yield* turn(parameters);
      return yield* play(typeof turn === "string" ? { text: turn } : turn, parameters.signal, ids);
    },
  };
}

async function* play(
  reply: ScriptedReply,
  signal: AbortSignal | undefined,
  ids: { next: number },
): AsyncGenerator<OmniMessage, LLMOutcome> {
  if (reply.thinking !== undefined) yield* segment("thinking", reply.thinking);
  if (reply.text !== undefined) yield* segment("text", reply.text);
  for (const call of reply.calls ?? []) yield* callSegment(call, call.id ?? `call_${ids.next++}`);
  if (reply.hang) await aborted(signal);
  if (signal?.aborted) return { status: "aborted" };
  if (reply.outcome) return reply.outcome;
  const request = { cache_read: 0, cache_write: 10, output: 5, total: 15, ...reply.usage };
  yield eventMessage({ type: "token_usage", request, session: request });
  return { status: "completed", finishReason: reply.finishReason ?? (reply.calls ? "tool_calls" : "stop") };
}

async function* segment(type: "text" | "thinking", content: string): AsyncGenerator<OmniMessage> {
  const fragment = (event_type: "start" | "delta" | "stop", piece: string): OmniMessage =>
    type === "text"
      ? modelMessage({ type: "partial_text", role: "assistant", event_type, text: piece })
      : modelMessage({ type: "partial_thinking", role: "assistant", event_type, thinking: piece });
  yield fragment("start", "");
  for (const piece of pieces(content)) yield fragment("delta", piece);
  yield fragment("stop", "");
  yield type === "text"
    ? modelMessage({ type: "text", role: "assistant", text: content })
    : modelMessage({ type: "thinking", role: "assistant", thinking: content });
}

async function* callSegment(call: ScriptedCall, id: string): AsyncGenerator<OmniMessage> {
  const args = typeof call.args === "string" ? call.args : JSON.stringify(call.args);
  const fragment = (event_type: "start" | "delta" | "stop", name: string, piece: string): OmniMessage =>
    modelMessage({
      type: "partial_tool_call",
      role: "assistant",
      event_type,
      name,
      arguments: piece,
      tool_call_id: id,
    });
  yield fragment("start", call.name, "");
  for (const piece of pieces(args)) yield fragment("delta", "", piece);
  yield fragment("stop", "", "");
  yield modelMessage({
    type: "tool_call",
    role: "assistant",
    name: call.name,
    arguments: args,
    tool_call_id: id,
    ...(call.stopReason && { stop_reason: call.stopReason }),
  });
}

/** Two deltas where there is enough to split. */
function pieces(content: string): string[] {
  const middle = Math.ceil(content.length / 2);
  return [content.slice(0, middle), content.slice(middle)].filter((piece) => piece !== "");
}

function aborted(signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (!signal || signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
