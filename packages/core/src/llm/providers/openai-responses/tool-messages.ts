import type { LanguageModelV3Message } from "@ai-sdk/provider";
import type { AnsweredCall } from "../provider.ts";
import { outputWithImages, toolMessage } from "../tool-message.ts";

/** The outputs of one reply's calls, each with its images. */
export function toolMessages(outputs: readonly AnsweredCall[]): LanguageModelV3Message[] {
  return [toolMessage(outputs, ({ output }) => outputWithImages(output.output, output.images))];
}
