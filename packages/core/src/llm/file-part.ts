import type { LanguageModelV3FilePart } from "@ai-sdk/provider";
import { RookeryError } from "../errors/rookery-error.ts";

/**
 * The part that carries an image given by web address or base64 data URL.
 *
 * @throws {RookeryError} `usage` when it is neither.
 */
export function imagePart(imageUrl: string): LanguageModelV3FilePart {
  if (/^https?:\/\//i.test(imageUrl) && URL.canParse(imageUrl)) {
    return { type: "file", mediaType: "image/*", data: new URL(imageUrl) };
  }
  const [, mediaType, data] = /^data:([^;,]+)(?:;[^;,]+)*;base64,(.+)$/s.exec(imageUrl) ?? [];
  if (mediaType !== undefined && data !== undefined) return dataPart(data, mediaType);
  throw new RookeryError("usage", `an image must be a base64 data URL or an http(s) address, got ${shown(imageUrl)}`);
}

/** The part that carries base64 data. */
export function dataPart(data: string, mediaType: string): LanguageModelV3FilePart {
  return { type: "file", mediaType: mediaType === "image/jpg" ? "image/jpeg" : mediaType, data };
}

function shown(value: string): string {
  return JSON.stringify(value.length > 60 ? `${value.slice(0, 57)}...` : value);
}
