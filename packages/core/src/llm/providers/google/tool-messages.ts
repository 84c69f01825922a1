import type { LanguageModelV3Message, LanguageModelV3ToolResultPart } from "@ai-sdk/provider";
import { imagePart, type UserPart, userMessages } from "../../file-part.ts";
import type { AnsweredCall } from "../provider.ts";
import { sendableFile } from "./sendable-file.ts";

/**
 * The outputs of one reply's calls. Where the model takes them (`inline`), images stand inside the output they belong to;
 * otherwise, and for images by address, they follow in one message of the user, each call's under its name and place.
 */
export function toolMessages(outputs: readonly AnsweredCall[], inline: boolean): LanguageModelV3Message[] {
  const beside: UserPart[] = [];
  const content = outputs.map((answered, index): LanguageModelV3ToolResultPart => {
    const images = (answered.output.images ?? [])
      .map(imagePart)
      .map((part) => (part.type === "file" ? sendableFile(part) : part));
    const inside = inline ? images.flatMap(insidePart) : [];
    const rest = inline ? images.filter((part) => insidePart(part).length === 0) : images;
    if (rest.length > 0)
      beside.push({ type: "text", text: `Images in the output of ${placeOf(answered, index, outputs)}:` }, ...rest);
    return resultPart(answered, inside);
  });
  return [{ role: "tool", content }, ...userMessages(beside)];
}

type OutputPart = Extract<LanguageModelV3ToolResultPart["output"], { type: "content" }>["value"][number];

function insidePart(part: UserPart): OutputPart[] {
  if (part.type === "text") return [part];
  return typeof part.data === "string" ? [{ type: "image-data", data: part.data, mediaType: part.mediaType }] : [];
}

function placeOf({ name }: AnsweredCall, index: number, outputs: readonly AnsweredCall[]): string {
  return outputs.length === 1 ? name : `${name} (call ${index + 1} of ${outputs.length})`;
}

function resultPart({ callId, name, output }: AnsweredCall, inside: OutputPart[]): LanguageModelV3ToolResultPart {
  const text = { type: "text" as const, text: output.output };
  return {
    type: "tool-result",
    toolCallId: callId,
    toolName: name,
    output: inside.length > 0 ? { type: "content", value: [text, ...inside] } : { type: "text", value: output.output },
  };
}
