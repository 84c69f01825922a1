import type { LanguageModelV3Prompt } from "@ai-sdk/provider";

/**
 * A prompt in which each call id names one call, with its output: servers that name calls by their function, and counters
 * that start anew with each reply, use one several times. No id is longer than {@link MAX_CALL_ID_CHARACTERS}.
 */
export function distinctCallIds(prompt: LanguageModelV3Prompt): LanguageModelV3Prompt {
  const distinct = distinctIds();
  let ofReply = new Map<string, string>();
  return prompt.map((message) => {
    if (message.role === "assistant") {
      ofReply = new Map();
      const content = message.content.map((part) => {
        if (part.type !== "tool-call") return part;
        const toolCallId = distinct(part.toolCallId);
        ofReply.set(part.toolCallId, toolCallId);
        return { ...part, toolCallId };
      });
      return { ...message, content };
    }
    if (message.role !== "tool") return message;
    const content = message.content.map((part) =>
      part.type === "tool-result" ? { ...part, toolCallId: ofReply.get(part.toolCallId) ?? part.toolCallId } : part,
    );
    return { ...message, content };
  });
}

/** The longest id of a call that the services take. */
export const MAX_CALL_ID_CHARACTERS = 64;

/** Makes an id that was not there before of one that may have been. */
function distinctIds(): (id: string) => string {
  const taken = new Set<string>();
  const lastNumbers = new Map<string, number>();
  return (id) => {
    let candidate = id;
    for (let n = lastNumbers.get(id) ?? 1; taken.has(candidate); ) {
      n += 1;
      candidate = `${id.slice(0, MAX_CALL_ID_CHARACTERS - String(n).length - 1)}_${n}`;
      lastNumbers.set(id, n);
    }
    taken.add(candidate);
    return candidate;
  };
}
