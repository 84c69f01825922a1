import type { LanguageModelV3Message, LanguageModelV3ToolResultOutput } from "@ai-sdk/provider";
import type { ToolCallOutputPayload } from "../../../omnimessage/message.ts";
import { imagePart } from "../../file-part.ts";
import type { AnsweredCall } from "../provider.ts";

/** The outputs of one reply's calls, each with its images. */
export function toolMessages(outputs: readonly AnsweredCall[]): LanguageModelV3Message[] {
  const content = outputs.map(({ callId, name, output }) => ({
    type: "tool-result" as const,
    toolCallId: callId,
    toolName: name,
    output: resultOf(output),
  }));
  return [{ role: "tool", content }];
}

function resultOf({ output, images = [] }: ToolCallOutputPayload): LanguageModelV3ToolResultOutput {
  if (images.length === 0) return { type: "text", value: output };
  const text = output === "" ? [] : [{ type: "text" as const, text: output }];
  return { type: "content", value: [...text, ...images.map(resultPart)] };
}

type ResultPart = Extract<LanguageModelV3ToolResultOutput, { type: "content" }>["value"][number];

function resultPart(imageUrl: string): ResultPart {
  const part = imagePart(imageUrl);
  if (part.type === "text") return { type: "text", text: part.text };
  const { data, mediaType } = part;
  if (data instanceof URL) return { type: "image-url", url: data.href };
  return {
    type: "image-data",
    data: typeof data === "string" ? data : Buffer.from(data).toString("base64"),
    mediaType,
  };
}
