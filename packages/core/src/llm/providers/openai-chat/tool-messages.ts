import type { LanguageModelV3Message } from "@ai-sdk/provider";
import { imagePart, type UserPart, userMessages } from "../../file-part.ts";
import type { AnsweredCall } from "../provider.ts";
import { toolMessage } from "../tool-message.ts";

/**
 * The outputs of one reply's calls. Tool messages of this protocol hold text alone, so the images of all of them follow
 * in one message of the user, each call's under its id.
 */
export function toolMessages(outputs: readonly AnsweredCall[]): LanguageModelV3Message[] {
  return [toolMessage(outputs), ...userMessages(outputs.flatMap(imageParts))];
}

function imageParts({ callId, output }: AnsweredCall): UserPart[] {
  if (!output.images?.length) return [];
  return [{ type: "text", text: `Images in the output of tool call ${callId}:` }, ...output.images.map(imagePart)];
}
