import type { LanguageModelV3Message, LanguageModelV3ToolResultOutput } from "@ai-sdk/provider";
import { imagePart, type UserPart } from "../file-part.ts";
import type { AnsweredCall } from "./provider.ts";

/** The outputs of one reply's calls in one message, in the order of the calls. */
export function toolMessage(
  outputs: readonly AnsweredCall[],
  write: (answered: AnsweredCall, index: number) => LanguageModelV3ToolResultOutput = textOutput,
): LanguageModelV3Message {
  return {
    role: "tool",
    content: outputs.map((answered, index) => ({
      type: "tool-result",
      toolCallId: answered.callId,
      toolName: answered.name,
      output: write(answered, index),
    })),
  };
}

/** An output without its images. */
export function textOutput({ output }: AnsweredCall): LanguageModelV3ToolResultOutput {
  return { type: "text", value: output.output };
}

/** An output with its images inside; beside them a text of nothing has no part. */
export function outputWithImages(
  text: string,
  images: readonly string[] = [],
  sendable = (part: UserPart): UserPart => part,
): LanguageModelV3ToolResultOutput {
  if (images.length === 0) return { type: "text", value: text };
  const parts = images.map((image) => outputPart(sendable(imagePart(image))));
  return { type: "content", value: text === "" ? parts : [{ type: "text", text }, ...parts] };
}

export type OutputPart = Extract<LanguageModelV3ToolResultOutput, { type: "content" }>["value"][number];

/** A part of a user's message as it stands inside an output. */
export function outputPart(part: UserPart): OutputPart {
  if (part.type === "text") return { type: "text", text: part.text };
  const { data, mediaType } = part;
  if (data instanceof URL) return { type: "image-url", url: data.href };
  return {
    type: "image-data",
    data: typeof data === "string" ? data : Buffer.from(data).toString("base64"),
    mediaType,
  };
}
