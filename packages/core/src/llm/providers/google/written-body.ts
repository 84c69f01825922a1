import type { LanguageModelV3FunctionTool } from "@ai-sdk/provider";
import { marked } from "../provider.ts";

/** Stands for a text of nothing, which the package would leave out together with its signature. */
export const NO_TEXT: string = marked("", "no text");

/** Stands for a signature that is not there, where the package would invent one. */
export const UNSIGNED: string = marked("", "unsigned");

/** A tool's schema that becomes these fields of its declaration as they stand; the package writes only part of a schema. */
export function verbatim(fields: string): LanguageModelV3FunctionTool["inputSchema"] {
  return { type: "string", description: marked("", fields) };
}

/**
 * The body of a request with what the package cannot be told in place of what stands for it. The text is not parsed: it may
 * hold many megabytes of images.
 */
export function writtenBody(json: string): string {
  return json
    .replaceAll(`"text":${JSON.stringify(NO_TEXT)}`, '"text":""')
    .replaceAll(`,"thoughtSignature":${JSON.stringify(UNSIGNED)}`, "")
    .replace(VERBATIM, (_, fields: string) => JSON.parse(fields).slice(1));
}

const VERBATIM = /"parameters":\{"description":("\\u0000[^"\\]*(?:\\.[^"\\]*)*"),"type":"string"\}/g;
