import type {
  LanguageModelV3FilePart,
  LanguageModelV3Message,
  LanguageModelV3Prompt,
  LanguageModelV3TextPart,
} from "@ai-sdk/provider";

/**
 * A prompt for protocols that have no place for files in a reply, where another protocol's model gave some out: they follow
 * in a message of the user, behind the outputs of the reply's calls.
 *
 * @param heading - What that message begins with.
 * @param standIn - What stands in the reply for a file; default: nothing.
 */
export function withFilesBehind(
  prompt: LanguageModelV3Prompt,
  heading: string,
  standIn?: (file: LanguageModelV3FilePart) => LanguageModelV3TextPart,
): LanguageModelV3Prompt {
  const written: LanguageModelV3Message[] = [];
  let files: LanguageModelV3FilePart[] = [];
  const show = (): void => {
    if (files.length > 0) written.push({ role: "user", content: [{ type: "text", text: heading }, ...files] });
    files = [];
  };
  for (const message of prompt) {
    if (message.role !== "tool") show();
    if (message.role !== "assistant") written.push(message);
    else {
      files = message.content.filter((part) => part.type === "file");
      const content = message.content.flatMap((part) => (part.type === "file" ? (standIn?.(part) ?? []) : [part]));
      written.push({ ...message, content });
    }
  }
  show();
  return written;
}
