import type { LanguageModelV3FilePart } from "@ai-sdk/provider";
import type { UserPart } from "../../file-part.ts";

/** A part of the user's input: images and PDF files as they are, files of text as text, others as a text that says so. */
export function inputPart(part: UserPart | LanguageModelV3FilePart): UserPart {
  if (part.type === "text" || /^(image\/|application\/pdf$)/.test(part.mediaType)) return part;
  if (part.mediaType.startsWith("text/") && typeof part.data === "string") {
    return { type: "text", text: Buffer.from(part.data, "base64").toString() };
  }
  return { type: "text", text: `[a file could not be sent: the type ${part.mediaType} is not supported]` };
}
