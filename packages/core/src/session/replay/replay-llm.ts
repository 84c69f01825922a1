import type { GenerativeModelParameters, LLMInterface, LLMOutcome } from "../../llm/contract.ts";
import { eventMessage, modelMessage } from "../../omnimessage/build.ts";
import type { CompletePayload, OmniMessage, PartialPayload } from "../../omnimessage/message.ts";
import { type RecordedRequest, recordedRequests } from "./recording.ts";

export interface ReplayLLMOptions {
  /** Also plays the requests in which a history was summed up; default false. */
  readonly compactions?: boolean;
  /** The wait before each delta of text and thinking, for who watches; default 0. */
  readonly deltaDelayMs?: number;
}

/**
 * The model's side of a recorded session: answers each request with what the model said in the next one that was
 * committed, with its call ids, usage and finish reason, whatever the request holds.
 *
 * Replies of failed attempts, child sessions and history that a context carried over are not played. Past the end every
 * request fails for good.
 */
export class ReplayLLM implements LLMInterface {
  readonly #requests: readonly RecordedRequest[];
  readonly #deltaDelayMs: number;
  #played = 0;

  /** @param records - The session's, of all its contexts one after another. */
  constructor(records: Iterable<OmniMessage>, { compactions = false, deltaDelayMs = 0 }: ReplayLLMOptions = {}) {
    this.#requests = recordedRequests(records, { compactions });
    this.#deltaDelayMs = deltaDelayMs;
  }

  /** How many recorded requests have not been played yet. */
  get remaining(): number {
    return this.#requests.length - this.#played;
  }

  async *streamGenerate({ signal }: GenerativeModelParameters): AsyncGenerator<OmniMessage, LLMOutcome> {
    const request = this.#requests[this.#played];
    if (request === undefined) {
      const count = this.#requests.length;
      const message = `the recording has ${count} ${count === 1 ? "request" : "requests"} and no more`;
      return { status: "failed", permanent: true, message };
    }
    for (const payload of request.said) {
      for (const message of streamed(payload)) {
        if (isProseDelta(message.payload)) await pause(this.#deltaDelayMs, signal);
        if (signal?.aborted) return { status: "aborted" };
        yield message;
      }
    }
    this.#played += 1;
    yield eventMessage(request.usage ?? { type: "token_usage", request: NO_TOKENS, session: NO_TOKENS });
    return { status: "completed", ...(request.finishReason && { finishReason: request.finishReason }) };
  }
}

const NO_TOKENS = { cache_read: 0, cache_write: 0, output: 0, total: 0 };

function* streamed(payload: CompletePayload): Generator<OmniMessage> {
  const stop = payload.stop_reason && { stop_reason: payload.stop_reason };
  for (const [event_type, piece] of fragments(payload)) {
    const common = { role: "assistant", event_type, ...(event_type === "stop" && stop) } as const;
    if (payload.type === "text") yield modelMessage({ type: "partial_text", ...common, text: piece });
    if (payload.type === "thinking") yield modelMessage({ type: "partial_thinking", ...common, thinking: piece });
    if (payload.type === "tool_call") {
      const name = event_type === "start" ? payload.name : "";
      const { tool_call_id } = payload;
      yield modelMessage({ type: "partial_tool_call", ...common, name, arguments: piece, tool_call_id });
    }
  }
  yield modelMessage(payload);
}

function* fragments(payload: CompletePayload): Generator<["start" | "delta" | "stop", string]> {
  yield ["start", ""];
  if (payload.type === "tool_call") yield ["delta", payload.arguments];
  else for (const word of words(payload)) yield ["delta", word];
  yield ["stop", ""];
}

/** Each word with the white space behind it. */
function words(payload: CompletePayload): string[] {
  const prose = payload.type === "text" ? payload.text : payload.type === "thinking" ? payload.thinking : "";
  return prose.match(/^\s+|\S+\s*/g) ?? [];
}

function isProseDelta(payload: OmniMessage["payload"]): boolean {
  const { type, event_type } = payload as Partial<PartialPayload>;
  return event_type === "delta" && type !== "partial_tool_call";
}

async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  if (ms <= 0 || signal?.aborted) return;
  await new Promise<void>((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener("abort", end, { once: true });
  });
}
