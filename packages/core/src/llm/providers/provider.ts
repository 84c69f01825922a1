import type {
  LanguageModelV3CallOptions,
  LanguageModelV3FunctionTool,
  LanguageModelV3Message,
  LanguageModelV3Prompt,
  LanguageModelV3StreamPart,
  SharedV3ProviderOptions,
} from "@ai-sdk/provider";
import type { ThinkingPayload, ToolCallOutputPayload, ToolDefinition } from "../../omnimessage/message.ts";
import type { ThinkingLevelName } from "../contract.ts";
import type { Fidelity } from "../segment-fidelity.ts";

/** Opens one wire protocol for one model; loads the protocol's package. @throws {RookeryError} `config-invalid`. */
export type OpenProvider = (config: {
  modelId: string;
  baseUrl?: string;
  /** Called whenever anything of a reply arrives, though no part comes of it. */
  onBytes?: () => void;
  /** How requests are sent. */
  fetch: typeof fetch;
}) => Promise<Provider>;

/** One model behind one wire protocol: all that the rest of the LLM layer needs to know of either. */
export interface Provider {
  /** Makes one request. Rejects with what the protocol's package throws. */
  send(options: LanguageModelV3CallOptions): Promise<ProviderReply>;
  readonly dialect: PromptDialect;
  /** Lower-case names; none without a key. */
  authHeaders(apiKey: string | undefined): Readonly<Record<string, string>>;
  callOptions(request: {
    thinkingLevel?: ThinkingLevelName | undefined;
    /** In tokens. */
    maxTokens?: number | undefined;
  }): Pick<LanguageModelV3CallOptions, "maxOutputTokens" | "providerOptions">;
  /** True for an error part over an event that carried nothing of the reply (a heartbeat). */
  isHarmless(error: unknown): boolean;
}

/** A reply as it comes. In its parts an adapter may mark ids and names that the protocol did not give: see `unmarked`. */
export interface ProviderReply {
  readonly stream: ReadableStream<LanguageModelV3StreamPart>;
  /**
   * A part of `stream` with what the protocol's package has passed over, and with the metadata of this protocol alone. An
   * error may stand in place of a part: of a `finish` that no end marker of the wire stands for.
   */
  completePart(part: LanguageModelV3StreamPart): LanguageModelV3StreamPart;
}

/** What differs between protocols in how a history is written. */
export interface PromptDialect {
  /** Whether thinking goes back with the reply it came in; thinking of another protocol is for the adapter to tell. */
  keepsThinking(thinking: ThinkingPayload): boolean;
  /** What of a piece's fidelity this protocol gave out, as its package takes it back; that of others stays behind. */
  fidelity(fidelity: Fidelity): SharedV3ProviderOptions | undefined;
  /** A call id the protocol accepts; equal ids stay equal. */
  callId(id: string): string;
  /** A tool name the protocol accepts; different names stay different. */
  callName(name: string): string;
  /** The `input` of a call part for arguments that hold a JSON object. */
  callInput(argumentsText: string): unknown;
  /** The outputs of one reply's calls, in the order of the calls. */
  toolMessages(outputs: readonly AnsweredCall[]): LanguageModelV3Message[];
  /** The parameters of a tool in the form the protocol takes; absent: any object schema will do. */
  toolSchema?(parameters: ToolDefinition["parameters"]): LanguageModelV3FunctionTool["inputSchema"];
  /** The last to change a whole prompt: marks what is to be cached. */
  finishPrompt?(prompt: LanguageModelV3Prompt): LanguageModelV3Prompt;
}

/** An output beside its call as the provider knows it. */
export interface AnsweredCall {
  readonly callId: string;
  readonly name: string;
  readonly output: ToolCallOutputPayload;
}

/** The type of an error that an adapter puts into a stream which breaks off without one. */
export const BROKEN_REPLY = "broken_reply";

const MARK = "\u0000";

/** An id or name with a mark that makes it distinct within one reply, or that stands for nothing at all. */
export function marked(text: string, mark: string | number): string {
  return `${text}${MARK}${mark}`;
}

/** The id or name as the provider gave it; empty when it gave none. */
export function unmarked(text: string): string {
  const at = text.indexOf(MARK);
  return at === -1 ? text : text.slice(0, at);
}
