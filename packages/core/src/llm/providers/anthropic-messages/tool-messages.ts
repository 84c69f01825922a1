import type { LanguageModelV3Message } from "@ai-sdk/provider";
import type { AnsweredCall } from "../provider.ts";
import { outputWithImages, toolMessage } from "../tool-message.ts";
import { sendablePart } from "./sendable-part.ts";

/** The outputs of one reply's calls, each with its images inside, and without text where it is blank. */
export function toolMessages(outputs: readonly AnsweredCall[]): LanguageModelV3Message[] {
  return [
    toolMessage(outputs, ({ output: { output: text, images } }) =>
      outputWithImages(text.trim() === "" ? "" : text, images, sendablePart),
    ),
  ];
}
