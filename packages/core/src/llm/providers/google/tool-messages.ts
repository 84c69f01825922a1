import type { LanguageModelV3Message } from "@ai-sdk/provider";
import { imagePart, type UserPart, userMessages } from "../../file-part.ts";
import type { AnsweredCall } from "../provider.ts";
import { outputPart, textOutput, toolMessage } from "../tool-message.ts";
import { sendablePart } from "./sendable-part.ts";

/**
 * The outputs of one reply's calls. Where the model takes them (`inline`), images stand inside the output they belong to;
 * otherwise, and for images by address, they follow in one message of the user, each call's under its name and place.
 */
export function toolMessages(outputs: readonly AnsweredCall[], inline: boolean): LanguageModelV3Message[] {
  const beside: UserPart[] = [];
  const message = toolMessage(outputs, (answered, index) => {
    const { output: text, images = [] } = answered.output;
    const parts = images.map((image) => sendablePart(imagePart(image)));
    const inside = parts.filter((part) => inline && !isAddress(part));
    const rest = parts.filter((part) => !inside.includes(part));
    if (rest.length > 0)
      beside.push({ type: "text", text: `Images in the output of ${placeOf(answered, index, outputs)}:` }, ...rest);
    if (inside.length === 0) return textOutput(answered);
    return { type: "content", value: [{ type: "text", text }, ...inside.map(outputPart)] };
  });
  return [message, ...userMessages(beside)];
}

function isAddress(part: UserPart): boolean {
  return part.type === "file" && part.data instanceof URL;
}

function placeOf({ name }: AnsweredCall, index: number, outputs: readonly AnsweredCall[]): string {
  return outputs.length === 1 ? name : `${name} (call ${index + 1} of ${outputs.length})`;
}
