import type {
  LanguageModelV3Message,
  LanguageModelV3Prompt,
  LanguageModelV3ReasoningPart,
  LanguageModelV3TextPart,
  LanguageModelV3ToolCallPart,
} from "@ai-sdk/provider";
import { distinctCallIds } from "../distinct-call-ids.ts";
import { withFilesBehind } from "../reply-files.ts";
import { optionsWith, readOptions } from "./own-fidelity.ts";
import { sendablePart } from "./sendable-part.ts";

/**
 * A prompt that the service takes, whatever protocol its replies came over.
 *
 * - Reasoning goes back with its encrypted content and in front of what it led to, or not at all; an item that it led to
 *   goes without its id then.
 * - Ids of items and of calls are legal, and each names one thing in the whole prompt.
 * - Files of a reply, which this protocol has no place for there, follow in a message of the user.
 */
export function inputPrompt(prompt: LanguageModelV3Prompt, takesReasoning: boolean): LanguageModelV3Prompt {
  const writer = new ReplyWriter(takesReasoning);
  return distinctCallIds(withFilesBehind(prompt, "Files of the reply above:")).flatMap(
    (message): LanguageModelV3Message[] => {
      if (message.role === "user") return [{ ...message, content: message.content.map(sendablePart) }];
      if (message.role !== "assistant") return [message];
      const content = writer.write(message.content);
      return content.length > 0 ? [{ ...message, content }] : [];
    },
  );
}

type AssistantPart = Extract<LanguageModelV3Message, { role: "assistant" }>["content"][number];

class ReplyWriter {
  readonly #takesReasoning: boolean;
  readonly #itemIds = new Set<string>();

  constructor(takesReasoning: boolean) {
    this.#takesReasoning = takesReasoning;
  }

  write(content: readonly AssistantPart[]): AssistantPart[] {
    const written: AssistantPart[] = [];
    let reasoning: LanguageModelV3ReasoningPart[] = [];
    let lacksReasoning = false;
    for (const part of content) {
      if (part.type === "reasoning") reasoning.push(part);
      else if (part.type === "text" || part.type === "tool-call") {
        if (reasoning.length > 0) {
          const sent = this.#reasoning(reasoning);
          lacksReasoning = sent.length === 0;
          written.push(...sent);
          reasoning = [];
        }
        written.push(this.#item(part, lacksReasoning));
      }
    }
    return written;
  }

  #item<P extends LanguageModelV3TextPart | LanguageModelV3ToolCallPart>(part: P, lacksReasoning: boolean): P {
    return withItemId(part, lacksReasoning ? undefined : this.#freshItemId(part));
  }

  /** Neighbouring pieces of reasoning; none of them where that which the rest of the reply rests on cannot go back. */
  #reasoning(parts: readonly LanguageModelV3ReasoningPart[]): LanguageModelV3ReasoningPart[] {
    const encrypted = parts.filter(isEncrypted);
    const whole = new Set(encrypted.map(itemIdOf));
    const isWhole = (part: LanguageModelV3ReasoningPart): boolean =>
      isEncrypted(part) || (itemIdOf(part) !== undefined && whole.has(itemIdOf(part)));
    const last = parts.at(-1);
    if (!this.#takesReasoning || !last || !isWhole(last)) return [];
    const ids = new Map<string | undefined, string | undefined>();
    return parts.filter(isWhole).map((part) => {
      const id = itemIdOf(part);
      if (!ids.has(id)) ids.set(id, this.#freshItemId(part));
      return withItemId(part, ids.get(id));
    });
  }

  /** The id of an item, where it is one the service can have given out and has not been used. */
  #freshItemId(part: Item): string | undefined {
    const id = itemIdOf(part);
    if (id === undefined || !LEGAL_IDS[part.type].test(id) || this.#itemIds.has(id)) return undefined;
    this.#itemIds.add(id);
    return id;
  }
}

type Item = LanguageModelV3TextPart | LanguageModelV3ReasoningPart | LanguageModelV3ToolCallPart;

const LEGAL_IDS = {
  text: /^msg[\w-]{0,61}$/,
  reasoning: /^rs[\w-]{0,62}$/,
  "tool-call": /^fc[\w-]{0,62}$/,
} as const satisfies Record<Item["type"], RegExp>;

function itemIdOf({ providerOptions }: Item): string | undefined {
  return readOptions(providerOptions).itemId;
}

function isEncrypted({ providerOptions }: Item): boolean {
  return readOptions(providerOptions).reasoningEncryptedContent !== undefined;
}

function withItemId<P extends Item>({ providerOptions: before, ...part }: P, itemId: string | undefined): P {
  const { itemId: _, ...fields } = readOptions(before);
  const providerOptions = optionsWith({ ...fields, ...(itemId !== undefined && { itemId }) });
  return { ...part, ...(providerOptions && { providerOptions }) } as P;
}
