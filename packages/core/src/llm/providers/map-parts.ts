import type { LanguageModelV3Prompt, LanguageModelV3TextPart } from "@ai-sdk/provider";

/** The prompt with others in place of its parts, in their order; those inside an output count as parts. */
export function mapParts(
  prompt: LanguageModelV3Prompt,
  write: <Part extends object>(part: Part) => Part | LanguageModelV3TextPart,
): LanguageModelV3Prompt {
  return prompt.map((message) => {
    if (message.role === "system") return message;
    if (message.role === "user") return { ...message, content: message.content.map(write) };
    if (message.role === "assistant") return { ...message, content: message.content.map(write) };
    const content = message.content.map((part) =>
      part.type === "tool-result" && part.output.type === "content"
        ? { ...part, output: { ...part.output, value: part.output.value.map(write) } }
        : part,
    );
    return { ...message, content };
  });
}
