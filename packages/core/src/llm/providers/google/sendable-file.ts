import type { LanguageModelV3FilePart } from "@ai-sdk/provider";
import type { UserPart } from "../../file-part.ts";

/**
 * A file as the service takes it; a text that says why it cannot be sent. One that the service refuses would make it refuse
 * every later request as well.
 *
 * Images go under the type that their bytes show, or, by address, that their name does; texts of every type as plain ones.
 */
export function sendableFile(part: LanguageModelV3FilePart): UserPart {
  const { data, mediaType } = part;
  if (data instanceof URL) return { ...part, mediaType: typeByName(data.pathname) };
  if (mediaType.startsWith("text/")) return { ...part, mediaType: "text/plain" };
  if (!mediaType.startsWith("image/") || typeof data !== "string") return part;
  const type = typeByBytes(Buffer.from(data.slice(0, 32), "base64").toString("latin1"));
  return type ? { ...part, mediaType: type } : NO_IMAGE;
}

const NO_IMAGE: UserPart = { type: "text", text: "[an image could not be sent: it is no png, jpeg or webp image]" };

function typeByBytes(start: string): string | undefined {
  if (start.startsWith("\x89PNG\r\n\x1a\n")) return "image/png";
  if (start.startsWith("\xff\xd8\xff")) return "image/jpeg";
  return /^RIFF.{4}WEBP/s.test(start) ? "image/webp" : undefined;
}

function typeByName(pathname: string): string {
  return `image/${/\.(png|webp)$/i.exec(pathname)?.[1]?.toLowerCase() ?? "jpeg"}`;
}
