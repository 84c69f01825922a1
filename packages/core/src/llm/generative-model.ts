import type {
  LanguageModelV3CallOptions,
  LanguageModelV3FunctionTool,
  LanguageModelV3StreamPart,
} from "@ai-sdk/provider";
import { errorText } from "../errors/error-text.ts";
import { RookeryError } from "../errors/rookery-error.ts";
import { estimateMessageTokens, estimateTokens } from "../omnimessage/estimate-tokens.ts";
import { isCompleteModelMessage } from "../omnimessage/guards.ts";
import type { FinishReason, OmniMessage, ToolDefinition } from "../omnimessage/message.ts";
import { BrokenReply, classifyFailure } from "./classify-failure.ts";
import type {
  GenerativeModelConfig,
  GenerativeModelParameters,
  LLMInterface,
  LLMOutcome,
  ToolCallIdAllocator,
} from "./contract.ts";
import { IdleWatch, Interruption, WatchedReader } from "./idle-timeout.ts";
import { directFetch } from "./network/direct-fetch.ts";
import { outputCap } from "./output-cap.ts";
import type { Provider, ProviderReply } from "./providers/provider.ts";
import { inferClientType, loadClientType } from "./providers/registry.ts";
import { secretsOf } from "./redact-secrets.ts";
import { requestHeaders } from "./request-headers.ts";
import { PromptHistory } from "./to-prompt.ts";
import { createToolCallIdAllocator } from "./tool-call-ids.ts";
import { StreamTranslator } from "./translate-stream.ts";
import { UsageMeter } from "./usage-meter.ts";

type Part = LanguageModelV3StreamPart;
type FinishPart = Extract<Part, { type: "finish" }>;

/**
 * The built-in model: one history, spoken to over one wire protocol (PC-004, PC-029 to PC-041).
 *
 * Each call of `streamGenerate` makes one request with the whole history and what is new. The history grows by a request
 * that completed, by its input and its reply, and by nothing else. Requests are made one after another.
 */
export class GenerativeModel implements LLMInterface {
  readonly #config: GenerativeModelConfig;
  /** Of the configuration; the key comes with each request. */
  readonly #secrets: readonly string[];
  #toolCallIds: ToolCallIdAllocator;
  #tools: readonly ToolDefinition[];
  /** The tools as the provider takes them. */
  #offered: readonly LanguageModelV3FunctionTool[] | undefined;
  /** Of the latest request. */
  #watch: IdleWatch | undefined;
  #carried: readonly OmniMessage[] | undefined;
  #opened: Promise<{ provider: Provider; history: PromptHistory }> | undefined;
  readonly #meter: UsageMeter;

  constructor(config: GenerativeModelConfig) {
    this.#config = config;
    this.#secrets = [...secretsOf(config.headers, config.baseUrl), ...(config.secrets ?? [])];
    this.#tools = config.tools;
    this.#meter = new UsageMeter(config.pricing, () => this.#estimateStart(), config.sessionUsage);
    this.#toolCallIds = config.toolCallIds ?? createToolCallIdAllocator();
  }

  /**
   * Replays a committed history (PC-039).
   *
   * @throws {RookeryError} `usage` when called twice or after the first request.
   */
  setHistory(messages: readonly OmniMessage[]): void {
    if (this.#carried || this.#opened) {
      throw new RookeryError("usage", "setHistory was called on a model that has a history already");
    }
    this.#carried = [...messages];
    if (!this.#config.toolCallIds) this.#toolCallIds = createToolCallIdAllocator(messages.flatMap(callIdsOf));
  }

  /** One request; see {@link LLMInterface}. */
  async *streamGenerate(parameters: GenerativeModelParameters): AsyncGenerator<OmniMessage, LLMOutcome> {
    const { newMessages, signal, tools } = parameters;
    if (tools) this.#offer(tools);
    const misuse = inputProblem(newMessages);
    if (misuse !== undefined) return { status: "failed", message: misuse, permanent: true };

    const timeoutMs = this.#config.requestTimeoutMs ?? DEFAULT_TIMEOUT_MS;
    const watch = new IdleWatch(signal, timeoutMs);
    this.#watch = watch;
    const ownNames = new Map<string, string>();
    const translator = new StreamTranslator(
      (id) => this.#toolCallIds.allocate(id),
      (offered) => ownNames.get(offered) ?? offered,
    );
    const secrets = [...this.#secrets];
    let provider: Provider | undefined;
    let reader: WatchedReader<Part> | undefined;
    let outcome: LLMOutcome | undefined;
    try {
      const opened = await this.#open();
      provider = opened.provider;
      for (const { name } of this.#tools) ownNames.set(provider.dialect.callName(name), name);
      const apiKey = (await watch.wait(this.#apiKey(), false))?.trim();
      if (apiKey) secrets.push(apiKey);
      const input = opened.history.convert(newMessages);
      const prompt = opened.history.prompt(this.#config.systemPrompt, input);
      const options = this.#callOptions(provider, parameters, apiKey);
      const { stream, completePart } = await send(provider, { ...options, prompt, abortSignal: watch.signal }, watch);
      reader = new WatchedReader(stream, watch);

      let finish: FinishPart | undefined;
      while (!finish) {
        for (const sent of await nextParts(reader)) {
          const part = completePart(sent);
          if (part.type === "error" && !provider.isHarmless(part.error)) throw part.error;
          if (part.type === "finish") finish = part;
          for (const message of translator.push(part)) yield message;
        }
      }
      const { unified } = finish.finishReason;
      if (unified === "error") throw new BrokenReply();

      for (const message of translator.end(unified === "length")) yield message;
      const reply = opened.history.convert(translator.reply, input);
      yield this.#meter.report(finish.usage, newMessages, translator.reply);
      opened.history.commit(input);
      opened.history.commit(reply);
      outcome = { status: "completed", finishReason: FINISH_REASONS[unified] };
    } catch (error) {
      outcome = classifyFailure(error, { timeoutMs, secrets });
      for (const message of translator.interrupt(outcome.status)) yield message;
    } finally {
      if (outcome?.status !== "completed") watch.stop();
      watch.dispose();
      reader?.abandon();
    }
    return outcome;
  }

  #open(): Promise<{ provider: Provider; history: PromptHistory }> {
    this.#opened ??= (async () => {
      const { modelId, clientType = inferClientType(modelId), baseUrl } = this.#config;
      const fetch = this.#config.fetch ?? directFetch;
      const open = await loadClientType(clientType);
      const onBytes = (): void => this.#watch?.refresh();
      const provider = await open({ modelId, ...(baseUrl !== undefined && { baseUrl }), onBytes, fetch });
      const history = new PromptHistory(provider.dialect, this.#toolCallIds);
      history.commit(history.convert(this.#carried ?? []));
      return { provider, history };
    })();
    return this.#opened;
  }

  async #apiKey(): Promise<string | undefined> {
    const { apiKey, resolveApiKey } = this.#config;
    if (!resolveApiKey) return apiKey;
    try {
      return await resolveApiKey();
    } catch (error) {
      throw RookeryError.is(error) ? error : new Error(`the key cannot be had: ${errorText(error)}`);
    }
  }

  #callOptions(
    provider: Provider,
    { newMessages, thinkingLevel = this.#config.thinkingLevel }: GenerativeModelParameters,
    apiKey: string | undefined,
  ): Omit<LanguageModelV3CallOptions, "prompt"> {
    const { maxTokens, contextWindow, headers } = this.#config;
    const cap = outputCap(
      maxTokens,
      contextWindow,
      () => this.#meter.contextTokens + estimateMessageTokens(newMessages),
    );
    return {
      ...provider.callOptions({ thinkingLevel, maxTokens: cap }),
      headers: requestHeaders(provider.authHeaders(apiKey), headers),
      ...(this.#tools.length > 0 && { tools: this.#functionTools(provider) }),
    };
  }

  #offer(tools: readonly ToolDefinition[]): void {
    this.#tools = tools;
    this.#offered = undefined;
  }

  #functionTools(provider: Provider): LanguageModelV3FunctionTool[] {
    this.#offered ??= this.#tools.map((tool) => functionTool(tool, provider));
    return [...this.#offered];
  }

  #estimateStart(): number {
    return (
      estimateTokens(this.#config.systemPrompt ?? "") +
      estimateTokens(JSON.stringify(this.#tools)) +
      estimateMessageTokens(this.#carried ?? [])
    );
  }
}

const DEFAULT_TIMEOUT_MS = 120_000;

const FINISH_REASONS = {
  stop: "stop",
  length: "length",
  "content-filter": "content_filter",
  "tool-calls": "tool_calls",
  other: "other",
} as const satisfies Record<Exclude<FinishPart["finishReason"]["unified"], "error">, FinishReason>;

function inputProblem(newMessages: readonly OmniMessage[]): string | undefined {
  const roles = new Set(newMessages.filter(isCompleteModelMessage).map(({ payload }) => payload.role));
  if (roles.size === 0) return "a request needs at least one new message, got none";
  return roles.size > 1 ? "the new messages of a request must be of one role, got user and assistant" : undefined;
}

function callIdsOf({ payload }: OmniMessage): string[] {
  return payload.type === "tool_call" ? [payload.tool_call_id] : [];
}

/** Starts the request; a reply that arrives after the wait was interrupted is closed unread. */
async function send(provider: Provider, options: LanguageModelV3CallOptions, watch: IdleWatch): Promise<ProviderReply> {
  const sending = provider.send(options);
  try {
    return await watch.wait(sending);
  } catch (error) {
    sending.then(({ stream }) => stream.cancel()).catch(() => undefined);
    throw error;
  }
}

/**
 * The next part, or the rest of a reply that was whole when it was interrupted.
 *
 * @throws {Interruption} When it was not.
 */
async function nextParts(reader: WatchedReader<Part>): Promise<readonly Part[]> {
  try {
    const step = await reader.next();
    if (!step.done) return [step.value];
  } catch (error) {
    const rest = error instanceof Interruption ? await reader.rest() : [];
    if (rest.some((part) => part.type === "finish" && part.finishReason.unified !== "error")) return rest;
    throw error;
  }
  throw new BrokenReply();
}

function functionTool(
  { name, description, parameters }: ToolDefinition,
  { dialect }: Provider,
): LanguageModelV3FunctionTool {
  const inputSchema = dialect.toolSchema?.(parameters) ?? { type: "object" as const, properties: {}, ...parameters };
  return { type: "function", name: dialect.callName(name), description, inputSchema };
}
