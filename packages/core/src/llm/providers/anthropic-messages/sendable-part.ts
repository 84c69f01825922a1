import { type UserPart, unsendable } from "../../file-part.ts";

/**
 * A part of a user's message as the service takes it; for a file that it would refuse, and every later request with it, a
 * text that says why it cannot be sent.
 *
 * Texts of every type go as plain ones, images and PDFs as they are.
 */
export function sendablePart(part: UserPart): UserPart {
  if (part.type === "text" || typeof part.data !== "string" || part.mediaType === "application/pdf") return part;
  const { data, mediaType } = part;
  if (mediaType.startsWith("text/")) {
    const isBlank = Buffer.from(data, "base64").toString().trim() === "";
    return isBlank ? unsendable("a file", "it is blank") : { ...part, mediaType: "text/plain" };
  }
  if (!mediaType.startsWith("image/")) return unsendable("a file", `the type ${mediaType} is not supported`);
  return data.length > MAX_IMAGE_CHARACTERS ? unsendable("an image", "it is larger than 5 MiB") : part;
}

/** Counted in base64. */
const MAX_IMAGE_CHARACTERS = 5 * 2 ** 20;
