import type { LanguageModelV3FilePart, LanguageModelV3Prompt, LanguageModelV3TextPart } from "@ai-sdk/provider";
import { distinctCallIds } from "../distinct-call-ids.ts";
import { fitImages } from "../fit-images.ts";
import { withFilesBehind } from "../reply-files.ts";
import { markForCache } from "./mark-for-cache.ts";
import { sendableMessage } from "./sendable-message.ts";

/**
 * A prompt as the service takes it, its cache marked.
 *
 * Files that another protocol's model gave out follow on the user's side. Call ids are distinct over the whole prompt. All
 * of this depends on nothing that comes later, so that the beginning of a prompt stays what it was, until there are more
 * images than a request may have; the marks alone move.
 */
export function finishPrompt(prompt: LanguageModelV3Prompt): LanguageModelV3Prompt {
  const behind = withFilesBehind(prompt, "From the reply above:", standIn);
  return markForCache(distinctCallIds(fitImages(behind.flatMap(sendableMessage))));
}

function standIn({ mediaType }: LanguageModelV3FilePart): LanguageModelV3TextPart {
  return { type: "text", text: `[${mediaType}, shown in the next message]` };
}
