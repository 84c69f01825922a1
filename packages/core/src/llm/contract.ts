import type { FinishReason, OmniMessage, StopReason, TokenCounts, ToolDefinition } from "../omnimessage/message.ts";
import type { ModelPricing } from "./cost.ts";

/** How hard a model thinks before it answers. */
export type ThinkingLevelName = "none" | "low" | "medium" | "high" | "xhigh";

/** One request to a model. */
export interface GenerativeModelParameters {
  /** Only what is new since the last completed request; user messages and tool outputs, never mixed with assistant ones. */
  readonly newMessages: readonly OmniMessage[];
  readonly signal?: AbortSignal;
  /** For this request; absent: the level given at construction. */
  readonly thinkingLevel?: ThinkingLevelName;
  /** The tools in force from this request on; absent: as before. */
  readonly tools?: readonly ToolDefinition[];
}

/** How a request ended: the return value of the generator (PC-014 to PC-025). */
export interface LLMOutcome {
  readonly status: StopReason;
  /** What went wrong, in the provider's words where it has some. */
  readonly message?: string;
  /** Why the provider ended the reply; present when `status` is `completed`. */
  readonly finishReason?: FinishReason;
  /** How long the provider asked to be left alone. */
  readonly retryAfterMs?: number;
  /** The provider says that trying again cannot help. */
  readonly permanent?: boolean;
  /** The input did not fit the model's context window. */
  readonly overflow?: boolean;
}

/**
 * The model side of a session. It owns its history, which changes only by a request that returned `completed`.
 *
 * The generator yields `partial_*` fragments, complete messages and, last, `token_usage` when it completed. It never
 * throws and never retries: what goes wrong is in the outcome. After an abort it returns soon, whatever the server does.
 */
export interface LLMInterface {
  streamGenerate(parameters: GenerativeModelParameters): AsyncGenerator<OmniMessage, LLMOutcome>;
}

/** What a model object is made of; everything but `modelId` and `tools` is optional (PC-029). */
export interface GenerativeModelConfig {
  readonly modelId: string;
  readonly apiKey?: string;
  /** Asked before each request, in place of `apiKey`. */
  readonly resolveApiKey?: () => Promise<string | undefined>;
  /** What the vendor's own SDK takes as its base address. */
  readonly baseUrl?: string;
  /** The wire protocol; absent: inferred from `modelId`. */
  readonly clientType?: string;
  readonly tools: readonly ToolDefinition[];
  /** Fully assembled. */
  readonly systemPrompt?: string;
  /** In tokens. */
  readonly contextWindow?: number;
  /** The most tokens of one reply. */
  readonly maxTokens?: number;
  readonly thinkingLevel?: ThinkingLevelName;
  /** Absent: what requests cost is not known. */
  readonly pricing?: ModelPricing;
  /**
   * The longest wait for the next event of a reply; default 120000, zero or less: none. Any bytes end such a wait, those of
   * a comment or of half an event too: they say that the server is at work. Time the consumer takes does not count.
   */
  readonly requestTimeoutMs?: number;
  /** Keeps call ids distinct over a whole session; pass the same instance to each of its models. */
  readonly toolCallIds?: ToolCallIdAllocator;
  /** What the session took before this model; `token_usage.session` goes on from it. */
  readonly sessionUsage?: TokenCounts;
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** How requests are sent; default: Node's own `fetch`. */
  readonly fetch?: typeof fetch;
  /** What no message may show beside the credentials of the requests themselves: a proxy's password. */
  readonly secrets?: readonly string[];
}

/** A session-wide registry of tool-call ids (PC-048 to PC-050). */
export interface ToolCallIdAllocator {
  /** The id to use for one that came in: the same, or with `#n` behind it when it was used before. */
  allocate(providerId: string): string;
  /** The id as the provider knows it. */
  toProvider(id: string): string;
}

/** Makes the model of one model context; `history` is what the context starts with. */
export type CreateLLM = (config: GenerativeModelConfig, history: readonly OmniMessage[]) => LLMInterface;
