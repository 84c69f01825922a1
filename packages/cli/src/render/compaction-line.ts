import { isType, type OmniMessage } from "@rookery/core";
import { shortened } from "./heading.ts";
import { oneLine } from "./neutralise.ts";

/** One line about room that is made, or could not be made, in the model's context; absent for any other message. */
export function compactionLine(message: OmniMessage): string | undefined {
  if (isType(message, "compaction_begin")) {
    const { reason, mode, context, model } = message.payload;
    return `↻ ${MODES[mode]}${model === undefined ? "" : ` by ${oneLine(model)}`} (${REASONS[reason]}${context > 0 ? `, ${context} tokens` : ""})`;
  }
  if (!isType(message, "compaction_end") || message.payload.status === "completed") return undefined;
  const { status, error_message: why = status } = message.payload;
  return `↻ the context stays as it is: ${shortened(oneLine(why), MAX_WORDS_CHARACTERS)}`;
}

const MODES = {
  summarize: "summarising the conversation",
  discard: "leaving the conversation behind",
  prune: "shortening old tool outputs",
  switch: "handing over to another model",
} as const;

const REASONS = {
  context: "the context is full",
  turns: "it has its number of turns",
  manual: "as asked",
  overflow: "it did not fit the model",
  switch: "as asked",
} as const;

const MAX_WORDS_CHARACTERS = 300;
