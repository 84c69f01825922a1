import type { LanguageModelV3Message, LanguageModelV3Prompt, LanguageModelV3ToolCallPart } from "@ai-sdk/provider";
import { isJsonObject } from "../../json-value.ts";
import { userContent } from "../user-content.ts";
import { fitSize } from "./fit-size.ts";
import { OWN } from "./reply-parts.ts";
import { sendablePart } from "./sendable-part.ts";
import { NO_TEXT, UNSIGNED } from "./written-body.ts";

type AssistantMessage = Extract<LanguageModelV3Message, { role: "assistant" }>;
type ToolMessage = Extract<LanguageModelV3Message, { role: "tool" }>;

/** Of the calls of one reply, by the ids that they have in the prompt. */
type SentIds = ReadonlyMap<string, string>;

/**
 * A whole prompt as the service takes it. Ids that it did not give stay behind, on calls and on their outputs; signed texts
 * of nothing are kept from being left out; files it does not take, or has no room for, become a text that says so; a call
 * that is not what it was loses its signature.
 *
 * @param insists - The model refuses a step of the current turn whose first call has no signature: one that came from
 *   elsewhere gets the stand-in that Google documents for it. Earlier turns are taken as they are.
 */
export function finishPrompt(prompt: LanguageModelV3Prompt, insists: boolean): LanguageModelV3Prompt {
  const turn = prompt.findLastIndex(({ role }) => role === "user");
  let ids: SentIds = new Map();
  const finished = prompt.map((message, index) => {
    if (message.role === "assistant") {
      ids = sentIds(callsOf(message));
      return assistantMessage(message, ids, insists && index > turn);
    }
    if (message.role === "user") return { ...message, content: userContent(message.content, sendablePart) };
    return message.role === "tool" ? toolMessage(message, ids) : message;
  });
  return fitSize(finished);
}

/** One of the two that Google documents for calls that no Gemini model made. */
const STAND_IN = "context_engineering_is_the_way_to_go";

/** The package leaves out an id that is not there, though its type does not say so. */
const NO_ID = undefined as unknown as string;

function assistantMessage(message: AssistantMessage, ids: SentIds, insists: boolean): AssistantMessage {
  const [first] = callsOf(message);
  return {
    ...message,
    content: message.content.map((part) => {
      if (part.type === "tool-call") {
        const call = { ...part, toolCallId: ids.get(part.toolCallId) ?? NO_ID };
        return isSigned(part) ? call : signed(call, insists && part === first ? STAND_IN : UNSIGNED);
      }
      if (part.type === "file") return sendablePart(part);
      return "text" in part && part.text === "" ? { ...part, text: NO_TEXT } : part;
    }),
  };
}

function toolMessage(message: ToolMessage, ids: SentIds): ToolMessage {
  return {
    ...message,
    content: message.content.map((part) =>
      part.type === "tool-result" ? { ...part, toolCallId: ids.get(part.toolCallId) ?? NO_ID } : part,
    ),
  };
}

function callsOf({ content }: AssistantMessage): LanguageModelV3ToolCallPart[] {
  return content.filter((part) => part.type === "tool-call");
}

/** Each as the service gave it, unless it gave it twice in one reply; those it did not give are not there. */
function sentIds(calls: readonly LanguageModelV3ToolCallPart[]): SentIds {
  const sent = new Map<string, string>();
  const given = new Set<string>();
  for (const { toolCallId, providerOptions } of calls) {
    const callId = providerOptions?.[OWN]?.callId;
    if (typeof callId !== "string") continue;
    sent.set(toolCallId, given.has(callId) ? toolCallId : callId);
    given.add(callId);
  }
  return sent;
}

/** A signature is for a call with its name and arguments: one that goes back without them goes back without it. */
function isSigned({ input, toolName, providerOptions }: LanguageModelV3ToolCallPart): boolean {
  const { thoughtSignature, noArguments, calledName = toolName } = providerOptions?.[OWN] ?? {};
  const isEmpty = isJsonObject(input) && Object.keys(input).length === 0;
  return thoughtSignature !== undefined && calledName === toolName && (!isEmpty || noArguments === true);
}

function signed(call: LanguageModelV3ToolCallPart, thoughtSignature: string): LanguageModelV3ToolCallPart {
  return { ...call, providerOptions: { [OWN]: { ...call.providerOptions?.[OWN], thoughtSignature } } };
}
