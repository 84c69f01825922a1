import type { LanguageModelV3Message } from "@ai-sdk/provider";
import type { AnsweredCall } from "../provider.ts";
import { outputWithImages, toolMessage } from "../tool-message.ts";
import { sendablePart } from "./sendable-part.ts";

/**
 * The outputs of one reply's calls, each with its images inside, and without text where it is blank. One of a call that did
 * not complete is marked as an error, which the protocol allows of nothing but text (PI-077).
 */
export function toolMessages(outputs: readonly AnsweredCall[]): LanguageModelV3Message[] {
  return [
    toolMessage(outputs, ({ output: { output: text, images = [], stop_reason = "completed" } }) => {
      const isBlank = text.trim() === "";
      if (stop_reason !== "completed" && !isBlank && images.length === 0) return { type: "error-text", value: text };
      return outputWithImages(isBlank ? "" : text, images, sendablePart);
    }),
  ];
}
