import type { LanguageModelV3Message, LanguageModelV3ToolResultOutput } from "@ai-sdk/provider";
import type { ToolCallOutputPayload } from "../../../omnimessage/message.ts";
import { imagePart } from "../../file-part.ts";
import type { AnsweredCall } from "../provider.ts";
import { sendableFile } from "./sendable-file.ts";

/** The outputs of one reply's calls, each with its images inside. */
export function toolMessages(outputs: readonly AnsweredCall[]): LanguageModelV3Message[] {
  return [
    {
      role: "tool",
      content: outputs.map(({ callId, name, output }) => ({
        type: "tool-result",
        toolCallId: callId,
        toolName: name,
        output: resultOf(output),
      })),
    },
  ];
}

type ResultPart = Extract<LanguageModelV3ToolResultOutput, { type: "content" }>["value"][number];

function resultOf({ output, images = [] }: ToolCallOutputPayload): LanguageModelV3ToolResultOutput {
  const isBlank = output.trim() === "";
  if (images.length === 0) return { type: "text", value: isBlank ? "" : output };
  const text: ResultPart[] = isBlank ? [] : [{ type: "text", text: output }];
  return { type: "content", value: [...text, ...images.map(resultPart)] };
}

function resultPart(image: string): ResultPart {
  const found = imagePart(image);
  const part = found.type === "file" ? sendableFile(found) : found;
  if (part.type === "text") return { type: "text", text: part.text };
  const { data, mediaType } = part;
  return data instanceof URL
    ? { type: "image-url", url: data.href }
    : { type: "image-data", data: String(data), mediaType };
}
