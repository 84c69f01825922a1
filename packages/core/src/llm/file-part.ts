import type { LanguageModelV3FilePart, LanguageModelV3Message, LanguageModelV3TextPart } from "@ai-sdk/provider";
import { imageTypeOf } from "./image-type.ts";

/** What a user's message is made of. */
export type UserPart = LanguageModelV3TextPart | LanguageModelV3FilePart;

/** The part that carries an image given by web address or base64 data URL; a text that says why it cannot be sent. */
export function imagePart(imageUrl: string): UserPart {
  if (/^https?:\/\//i.test(imageUrl) && URL.canParse(imageUrl)) {
    return { type: "file", mediaType: "image/*", data: new URL(imageUrl) };
  }
  const [, mediaType, data] = /^data:([^;,]+)(?:;[^;,]+)*;base64,(.*)$/s.exec(imageUrl) ?? [];
  if (mediaType === undefined || data === undefined) {
    return unsendable("an image", "it is neither an http(s) address nor a base64 data URL");
  }
  return encodedImage(data, plainType(mediaType));
}

/** The part that carries base64 data; a text that says why it cannot be sent. */
export function dataPart(data: string, mediaType: string): UserPart {
  const type = plainType(mediaType);
  if (type.startsWith("image/")) return encodedImage(data, type);
  if (FILE_TYPES.test(type)) return encodedPart(data, type, "a file");
  return unsendable("a file", `the type ${type} is not supported`);
}

/** One message a text, since some servers take nothing but a string; one of parts as soon as a file is among them. */
export function userMessages(parts: readonly UserPart[]): LanguageModelV3Message[] {
  if (parts.some((part) => part.type === "file")) return [{ role: "user", content: [...parts] }];
  return parts.map((part) => ({ role: "user", content: [part] }));
}

const IMAGE_TYPES = /^image\/(png|jpe?g|gif|webp)$/;
const FILE_TYPES = /^(application\/pdf|text\/.+|audio\/(wav|mp3|mpeg))$/;

function plainType(mediaType: string): string {
  return mediaType.trim().toLowerCase();
}

/**
 * An image goes under the type that its bytes show, whatever it is called. A service refuses one that is none, or too large,
 * and every later request with it.
 */
function encodedImage(data: string, calledType: string): UserPart {
  const part = encodedPart(data, calledType, "an image");
  if (part.type === "text") return part;
  const encoded = String(part.data);
  const shownType = imageTypeOf(encoded);
  if (shownType === undefined) {
    const why = IMAGE_TYPES.test(calledType)
      ? "it is no png, jpeg, gif or webp image"
      : `the type ${calledType} is not one of png, jpeg, gif and webp`;
    return unsendable("an image", why);
  }
  if (encoded.length > MAX_IMAGE_CHARACTERS) return unsendable("an image", "it is larger than 20 MiB");
  return { ...part, mediaType: shownType };
}

/** 20 MiB, counted in base64. */
const MAX_IMAGE_CHARACTERS = 4 * Math.ceil((20 * 2 ** 20) / 3);

/** Decoding skips what is no base64: a result that is shorter than its source was none. */
function encodedPart(data: string, mediaType: string, what: string): UserPart {
  const encoded = Buffer.from(data, "base64").toString("base64");
  const [found, given] = [encoded.replace(/=/g, ""), data.replace(/[\s=]/g, "")];
  if (given === "") return unsendable(what, "it is empty");
  if (found.length !== given.length) return unsendable(what, "its base64 cannot be decoded");
  return { type: "file", mediaType, data: encoded };
}

/** The text that stands for what cannot be sent. */
export function unsendable(what: string, why: string): LanguageModelV3TextPart {
  return { type: "text", text: `[${what} could not be sent: ${why}]` };
}
