import { type UserPart, unsendable } from "../../file-part.ts";

/**
 * A part of a message as the service takes it; for an image that it would refuse, and every later request with it, a text
 * that says why it cannot be sent.
 *
 * Images by address go under the type that their name shows, texts of every type as plain ones.
 */
export function sendablePart(part: UserPart): UserPart {
  if (part.type === "text") return part;
  const { data, mediaType } = part;
  if (data instanceof URL) return { ...part, mediaType: typeByName(data.pathname) };
  if (mediaType.startsWith("text/")) return { ...part, mediaType: "text/plain" };
  return mediaType === "image/gif" ? unsendable("an image", "it is no png, jpeg or webp image") : part;
}

function typeByName(pathname: string): string {
  return `image/${/\.(png|webp)$/i.exec(pathname)?.[1]?.toLowerCase() ?? "jpeg"}`;
}
