import type {
  LanguageModelV3FilePart,
  LanguageModelV3Message,
  LanguageModelV3Prompt,
  LanguageModelV3ReasoningPart,
  LanguageModelV3TextPart,
  LanguageModelV3ToolCallPart,
  SharedV3ProviderOptions,
} from "@ai-sdk/provider";
import { isCompleteModelMessage } from "../omnimessage/guards.ts";
import type {
  CompletePayload,
  OmniMessage,
  TextPayload,
  ToolCallOutputPayload,
  ToolCallPayload,
} from "../omnimessage/message.ts";
import type { ToolCallIdAllocator } from "./contract.ts";
import { dataPart, imagePart, type UserPart, userMessages } from "./file-part.ts";
import { isJsonObject, parseJson } from "./json-value.ts";
import type { AnsweredCall, PromptDialect } from "./providers/provider.ts";
import { isFidelity } from "./segment-fidelity.ts";

/** Messages in a provider's terms, and the calls in them that the next outputs will answer. */
export interface ConvertedMessages {
  readonly messages: readonly LanguageModelV3Message[];
  readonly calls: readonly SentCall[];
}

/** A call as it was written into the prompt. */
interface SentCall {
  readonly id: string;
  readonly callId: string;
  readonly name: string;
}

/**
 * A history in a provider's terms. Each message is converted once: a request costs what is new in it.
 *
 * Neighbouring messages of the assistant form one; the outputs of its calls follow in the order of the calls, before
 * anything else of the same turn. Outputs without a call and repeated ones are left out, since no provider takes them;
 * so are assistant texts of nothing but white space. An image that no provider takes becomes a text that says so:
 * nothing in a history makes it throw. `sender`, `details` and `usage` never leave.
 */
export class PromptHistory {
  readonly #dialect: PromptDialect;
  readonly #ids: Pick<ToolCallIdAllocator, "toProvider">;
  readonly #messages: LanguageModelV3Message[] = [];
  #calls: readonly SentCall[] = [];

  constructor(dialect: PromptDialect, ids: Pick<ToolCallIdAllocator, "toProvider">) {
    this.#dialect = dialect;
    this.#ids = ids;
  }

  /** Converts what comes next in this history, or behind `before`, without adding it. */
  convert(next: readonly OmniMessage[], before?: ConvertedMessages): ConvertedMessages {
    const messages: LanguageModelV3Message[] = [];
    let calls = before?.calls ?? this.#calls;
    for (const { role, payloads } of runsOf(next)) {
      if (role === "assistant") {
        const reply = this.#reply(payloads);
        messages.push(...reply.messages);
        calls = reply.calls;
      } else {
        messages.push(...this.#turn(payloads, calls));
        calls = [];
      }
    }
    return { messages, calls };
  }

  /** Adds what `convert` gave. */
  commit(converted: ConvertedMessages): void {
    this.#messages.push(...converted.messages);
    this.#calls = converted.calls;
  }

  /** The whole prompt of a request. */
  prompt(systemPrompt: string | undefined, input: ConvertedMessages): LanguageModelV3Prompt {
    const system: LanguageModelV3Message[] = systemPrompt ? [{ role: "system", content: systemPrompt }] : [];
    const prompt = [...system, ...this.#messages, ...input.messages];
    return this.#dialect.finishPrompt?.(prompt) ?? prompt;
  }

  #reply(payloads: readonly CompletePayload[]): ConvertedMessages {
    const calls: SentCall[] = [];
    const content: ReplyPart[] = [];
    for (const payload of payloads) {
      if (payload.type === "tool_call") {
        const call = this.#sentCall(payload, calls);
        calls.push(call);
        content.push(this.#callPart(payload, call));
      } else content.push(...this.#replyPart(payload));
    }
    return { messages: content.length > 0 ? [{ role: "assistant", content }] : [], calls };
  }

  #replyPart(payload: Exclude<CompletePayload, ToolCallPayload>): ReplyPart[] {
    switch (payload.type) {
      case "text":
        return this.#textPart(payload);
      case "thinking":
        if (!this.#dialect.keepsThinking(payload)) return [];
        return [{ type: "reasoning", text: payload.thinking, ...this.#options(payload) }];
      case "inline_data": {
        const part = dataPart(payload.data, payload.mime_type);
        return part.type === "file" ? [{ ...part, ...this.#options(payload) }] : [];
      }
      default:
        return [];
    }
  }

  #textPart(payload: TextPayload): ReplyPart[] {
    const options = this.#options(payload);
    if (payload.text.trim() === "" && !options.providerOptions) return [];
    return [{ type: "text", text: payload.text, ...options }];
  }

  /** The id as the provider gave it, unless two calls of one message would then share it. */
  #sentCall({ tool_call_id: id, name }: ToolCallPayload, before: readonly SentCall[]): SentCall {
    const isTaken = (callId: string): boolean => before.some((call) => call.callId === callId);
    let callId = this.#dialect.callId(this.#ids.toProvider(id));
    for (let n = 1; isTaken(callId); n += 1) callId = this.#dialect.callId(n === 1 ? id : `${id}_${n}`);
    return { id, callId, name: this.#dialect.callName(name) };
  }

  #callPart(payload: ToolCallPayload, { callId, name }: SentCall): LanguageModelV3ToolCallPart {
    const readable = payload.stop_reason !== "malformed" && isJsonObject(parseJson(payload.arguments));
    const input = this.#dialect.callInput(readable ? payload.arguments : "{}");
    return { type: "tool-call", toolCallId: callId, toolName: name, input, ...this.#options(payload) };
  }

  /** Fidelity goes back as it came, with the piece it came with (PC-041). */
  #options({ fidelity }: CompletePayload): { providerOptions?: SharedV3ProviderOptions } {
    const options = isFidelity(fidelity) ? this.#dialect.fidelity(fidelity) : undefined;
    return options ? { providerOptions: options } : {};
  }

  #turn(payloads: readonly CompletePayload[], calls: readonly SentCall[]): LanguageModelV3Message[] {
    const outputs = new Map<string, ToolCallOutputPayload>();
    for (const payload of payloads) {
      if (payload.type === "tool_call_output" && !outputs.has(payload.tool_call_id)) {
        outputs.set(payload.tool_call_id, payload);
      }
    }
    const answered = calls.flatMap(({ id, callId, name }): AnsweredCall[] => {
      const output = outputs.get(id);
      return output ? [{ callId, name, output }] : [];
    });
    return [
      ...(answered.length > 0 ? this.#dialect.toolMessages(answered) : []),
      ...userMessages(payloads.flatMap(userPart)),
    ];
  }
}

type ReplyPart =
  | LanguageModelV3TextPart
  | LanguageModelV3ReasoningPart
  | LanguageModelV3FilePart
  | LanguageModelV3ToolCallPart;

/** Neighbouring complete messages of one role; other messages are no part of a history. */
function runsOf(messages: readonly OmniMessage[]): { role: "user" | "assistant"; payloads: CompletePayload[] }[] {
  const runs: { role: "user" | "assistant"; payloads: CompletePayload[] }[] = [];
  for (const message of messages) {
    if (!isCompleteModelMessage(message)) continue;
    const { payload } = message;
    const run = runs.at(-1);
    if (run?.role === payload.role) run.payloads.push(payload);
    else runs.push({ role: payload.role, payloads: [payload] });
  }
  return runs;
}

function userPart(payload: CompletePayload): UserPart[] {
  if (payload.type === "text") return [{ type: "text", text: payload.text }];
  if (payload.type === "image_url") return [imagePart(payload.image_url)];
  if (payload.type === "inline_data") return [dataPart(payload.data, payload.mime_type)];
  return [];
}
