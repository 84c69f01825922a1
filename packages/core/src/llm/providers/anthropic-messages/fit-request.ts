import type { LanguageModelV3CallOptions, LanguageModelV3Message, LanguageModelV3Prompt } from "@ai-sdk/provider";
import { isJsonObject } from "../../json-value.ts";

/**
 * Makes a request fit the history it goes out with, whoever wrote that.
 *
 * The service thinks by budget only where the reply that began the current round of calls, and each reply with thinking,
 * begins with thinking; elsewhere this request goes without. A history with calls needs tools: where none is offered,
 * those that were called are, by their names.
 */
export function fitRequest(options: LanguageModelV3CallOptions): LanguageModelV3CallOptions {
  return withCalledTools(withoutLateThinking(options));
}

function withoutLateThinking(options: LanguageModelV3CallOptions): LanguageModelV3CallOptions {
  const own = options.providerOptions?.anthropic;
  const thinking = own?.thinking;
  if (!isJsonObject(thinking) || thinking.type !== "enabled" || mayThinkByBudget(options.prompt)) return options;
  return {
    ...options,
    maxOutputTokens: (options.maxOutputTokens ?? 0) + Number(thinking.budgetTokens),
    providerOptions: { anthropic: { ...own, thinking: { type: "disabled" } } },
  };
}

function mayThinkByBudget(prompt: LanguageModelV3Prompt): boolean {
  const beginsWithThinking = (reply: Reply): boolean => reply.content[0]?.type === "reasoning";
  const first = firstReplyOfRound(prompt);
  const thoughtful = prompt.filter(isReply).filter(({ content }) => content.some(({ type }) => type === "reasoning"));
  return (!first || beginsWithThinking(first)) && thoughtful.every(beginsWithThinking);
}

/** The reply whose calls the end of the prompt answers, or the first of a row of such replies. */
function firstReplyOfRound(prompt: LanguageModelV3Prompt): Reply | undefined {
  let first: Reply | undefined;
  let answered = false;
  for (const message of prompt) {
    if (isReply(message)) first ??= message;
    else if (message.role === "user" && !answered) first = undefined;
    answered = message.role === "tool" || (answered && message.role === "user");
  }
  return first;
}

function withCalledTools(options: LanguageModelV3CallOptions): LanguageModelV3CallOptions {
  if (options.tools?.length) return options;
  const calls = options.prompt
    .filter(isReply)
    .flatMap(({ content }) => content.filter(({ type }) => type === "tool-call"));
  const names = new Set(calls.flatMap((part) => (part.type === "tool-call" ? [part.toolName] : [])));
  if (names.size === 0) return options;
  const tools = [...names].map((name) => ({
    type: "function" as const,
    name,
    description: "No longer available.",
    inputSchema: { type: "object" as const },
  }));
  return { ...options, tools, toolChoice: { type: "none" } };
}

type Reply = Extract<LanguageModelV3Message, { role: "assistant" }>;

function isReply(message: LanguageModelV3Message): message is Reply {
  return message.role === "assistant";
}
