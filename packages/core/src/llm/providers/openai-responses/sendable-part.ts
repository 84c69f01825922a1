import { type UserPart, unsendable } from "../../file-part.ts";

/** A part of the user's input: images and PDF files as they are, files of text as text, others as a text that says so. */
export function sendablePart(part: UserPart): UserPart {
  if (part.type === "text" || /^(image\/|application\/pdf$)/.test(part.mediaType)) return part;
  if (part.mediaType.startsWith("text/") && typeof part.data === "string") {
    return { type: "text", text: Buffer.from(part.data, "base64").toString() };
  }
  return unsendable("a file", `the type ${part.mediaType} is not supported`);
}
