import type { LanguageModelV3FilePart } from "@ai-sdk/provider";
import type { UserPart } from "../../file-part.ts";

/**
 * A file as the service takes it; a text that says why it cannot be sent. One that the service refuses would make it
 * refuse every later request as well.
 *
 * Images go under the type that their bytes show. Texts of every type go as plain ones, PDFs as they are.
 */
export function sendableFile(part: LanguageModelV3FilePart): UserPart {
  const { data, mediaType } = part;
  if (typeof data !== "string" || mediaType === "application/pdf") return part;
  if (mediaType.startsWith("text/")) return textFile(part, data);
  if (!mediaType.startsWith("image/")) return unsendable("a file", `the type ${mediaType} is not supported`);
  if (data.length > MAX_IMAGE_CHARACTERS) return unsendable("an image", "it is larger than 5 MiB");
  const type = imageTypeOf(Buffer.from(data.slice(0, 32), "base64"));
  return type ? { ...part, mediaType: type } : unsendable("an image", "it is no png, jpeg, gif or webp image");
}

/** Counted in base64. */
const MAX_IMAGE_CHARACTERS = 5 * 2 ** 20;

function textFile(part: LanguageModelV3FilePart, data: string): UserPart {
  const isBlank = Buffer.from(data, "base64").toString().trim() === "";
  return isBlank ? unsendable("a file", "it is blank") : { ...part, mediaType: "text/plain" };
}

function imageTypeOf(bytes: Buffer): string | undefined {
  const start = bytes.toString("latin1");
  if (start.startsWith("\x89PNG\r\n\x1a\n")) return "image/png";
  if (start.startsWith("\xff\xd8\xff")) return "image/jpeg";
  if (/^GIF8[79]a/.test(start)) return "image/gif";
  return /^RIFF.{4}WEBP/s.test(start) ? "image/webp" : undefined;
}

function unsendable(what: string, why: string): UserPart {
  return { type: "text", text: `[${what} could not be sent: ${why}]` };
}
