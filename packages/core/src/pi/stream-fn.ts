import { INTERRUPTED, unlessAborted } from "../engine/interruption.ts";
import { errorText } from "../errors/error-text.ts";
import type { CreateLLM, GenerativeModelParameters, LLMInterface, LLMOutcome } from "../llm/contract.ts";
import { sound } from "../llm/token-counts.ts";
import { createToolCallIdAllocator } from "../llm/tool-call-ids.ts";
import { eventMessage } from "../omnimessage/build.ts";
import { isType } from "../omnimessage/guards.ts";
import type { FinishReason, OmniMessage, TokenCounts, ToolDefinition } from "../omnimessage/message.ts";
import { addTokens, NO_TOKENS } from "../omnimessage/token-counts.ts";
import type { AssistantMessageEvent } from "./agent-event.ts";
import { type AgentMessage, type AssistantMessage, toToolResult, toUserMessage } from "./agent-message.ts";
import { StreamedReply } from "./streamed-reply.ts";

/** Which model; whatever else it says is for the `streamFn`. */
export interface Model {
  readonly id: string;
  readonly provider: string;
  /** The protocol, in pi's word for it or in ours. */
  readonly api?: string;
  readonly baseUrl?: string;
  readonly [more: string]: unknown;
}

/** What a model is asked. */
export interface StreamContext {
  readonly systemPrompt?: string;
  readonly messages: readonly AgentMessage[];
  readonly tools: readonly Pick<ToolDefinition, "name" | "description" | "parameters">[];
}

/** What a reply says as it comes; `done` or `error` is the last. Steps between may be left out. */
export type StreamEvent =
  | { readonly type: "start" }
  | AssistantMessageEvent
  | { readonly type: "done"; readonly message: AssistantMessage }
  | { readonly type: "error"; readonly error: Pick<AssistantMessage, "stopReason" | "errorMessage"> };

/** A model as one function: a failure is its `error` event. */
export type StreamFn = (
  model: Model,
  context: StreamContext,
  options: { readonly signal?: AbortSignal },
) => AsyncIterable<StreamEvent> | Promise<AsyncIterable<StreamEvent>>;

/** Makes a model of a `StreamFn`. What fails is not tried again: the function has its own ways to do so. */
export function streamFnModel(streamFn: StreamFn, model: Model): CreateLLM {
  return ({ systemPrompt, tools }) =>
    new StreamFnModel((context, signal) => {
      const prompt = systemPrompt === undefined || systemPrompt === "" ? {} : { systemPrompt };
      return streamFn(model, { ...prompt, ...context }, { ...(signal && { signal }) });
    }, tools);
}

type Ask = (
  context: Pick<StreamContext, "messages" | "tools">,
  signal: AbortSignal | undefined,
) => ReturnType<StreamFn>;

class StreamFnModel implements LLMInterface {
  readonly #ask: Ask;
  readonly #ids = createToolCallIdAllocator();
  #tools: readonly ToolDefinition[];
  #history: readonly AgentMessage[] = [];
  #session: TokenCounts = NO_TOKENS;

  constructor(ask: Ask, tools: readonly ToolDefinition[]) {
    this.#ask = ask;
    this.#tools = tools;
  }

  async *streamGenerate(parameters: GenerativeModelParameters): AsyncGenerator<OmniMessage, LLMOutcome> {
    const { newMessages, signal, tools } = parameters;
    this.#tools = tools ?? this.#tools;
    const messages = [...this.#history, ...this.#toInput(newMessages)];
    const reply = new StreamedReply(this.#ids);
    try {
      const offered = this.#tools.map(({ name, description, parameters }) => ({ name, description, parameters }));
      for await (const event of untilAborted(() => this.#ask({ messages, tools: offered }, signal), signal)) {
        if (event.type === "error") return failure(event.error, signal);
        if (event.type !== "done") {
          yield* reply.push(event);
          continue;
        }
        yield* reply.end(event.message);
        yield this.#usage(event.message);
        this.#history = [...messages, event.message];
        return { status: "completed", finishReason: FINISH_REASONS[event.message.stopReason] };
      }
      return failure({ stopReason: "error", errorMessage: "the reply ended with neither done nor error" }, signal);
    } catch (error) {
      return failure({ stopReason: "error", errorMessage: errorText(error) }, signal);
    }
  }

  /** User messages and results of calls, these by the ids that the function knows. */
  #toInput(messages: readonly OmniMessage[]): AgentMessage[] {
    const results = messages
      .filter((message) => isType(message, "tool_call_output"))
      .map((message) => {
        const { details: _, usage: __, ...payload } = message.payload;
        const tool_call_id = this.#ids.toProvider(payload.tool_call_id);
        return toToolResult({ ...message, payload: { ...payload, tool_call_id } }, this.#nameOf(tool_call_id));
      });
    const user = toUserMessage(messages.filter((message) => !isType(message, "tool_call_output")));
    return [...results, ...(user ? [user] : [])];
  }

  #nameOf(toolCallId: string): string {
    const blocks = this.#history.flatMap((message) => (message.role === "assistant" ? message.content : []));
    const call = blocks.findLast((block) => block.type === "toolCall" && block.id === toolCallId);
    return call?.type === "toolCall" ? call.name : "";
  }

  #usage({ usage }: AssistantMessage): OmniMessage {
    const { input, cacheRead, cacheWrite, output } = usage ?? {};
    const counts = {
      cache_read: sound(cacheRead) ?? 0,
      cache_write: (sound(input) ?? 0) + (sound(cacheWrite) ?? 0),
      output: sound(output) ?? 0,
    };
    const request = { ...counts, total: counts.cache_read + counts.cache_write + counts.output };
    this.#session = addTokens(this.#session, request);
    return eventMessage({ type: "token_usage", request, session: this.#session });
  }
}

/** The events until the signal fires; a function that goes on regardless is left behind. */
async function* untilAborted(
  ask: () => ReturnType<StreamFn>,
  signal: AbortSignal = new AbortController().signal,
): AsyncGenerator<StreamEvent> {
  const stream = await unlessAborted(Promise.resolve().then(ask), signal);
  if (stream === INTERRUPTED) return;
  const events = stream[Symbol.asyncIterator]();
  try {
    for (;;) {
      const step = await unlessAborted(events.next(), signal);
      if (step === INTERRUPTED || step.done) return;
      yield step.value;
    }
  } finally {
    void Promise.resolve(events.return?.()).catch(() => undefined);
  }
}

const FINISH_REASONS = {
  stop: "stop",
  length: "length",
  toolUse: "tool_calls",
  error: "other",
  aborted: "other",
} as const satisfies Record<AssistantMessage["stopReason"], FinishReason>;

function failure(
  { stopReason, errorMessage }: Pick<AssistantMessage, "stopReason" | "errorMessage">,
  signal: AbortSignal | undefined,
): LLMOutcome {
  if (stopReason === "aborted" || signal?.aborted) return { status: "aborted" };
  return { status: "failed", permanent: true, message: errorMessage ?? "the model failed without a reason" };
}
