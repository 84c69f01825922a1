import type { LanguageModelV3Prompt } from "@ai-sdk/provider";
import { unsendable } from "../../file-part.ts";
import { mapParts } from "../map-parts.ts";

/**
 * The same prompt as far as one request can carry it: where its files make it too large, the oldest of them become texts that
 * say so, no more than must. What has become a text stays one while the prompt grows.
 */
export function fitSize(prompt: LanguageModelV3Prompt): LanguageModelV3Prompt {
  let fileSize = 0;
  mapParts(prompt, (part) => {
    fileSize += dataSizeOf(part);
    return part;
  });
  if (fileSize < WORTH_WEIGHING_BYTES) return prompt;
  let excess = sizeOf(prompt) - MAX_PROMPT_BYTES;
  return mapParts(prompt, (part) => {
    const size = dataSizeOf(part);
    if (excess <= 0 || size === 0) return part;
    excess -= size;
    return unsendable("a file", "the request would be larger than the 20 MB that the service takes");
  });
}

/** Of the 20 MB, the rest is for the tools and what stands around the prompt. */
const MAX_PROMPT_BYTES = 19_000_000;

/** What else a prompt holds does not make up for the rest: no context window has room for so much text. */
const WORTH_WEIGHING_BYTES = 10_000_000;

function dataSizeOf(part: object): number {
  return "data" in part && typeof part.data === "string" ? part.data.length : 0;
}

/** In bytes of JSON, without a copy of the files. */
function sizeOf(prompt: LanguageModelV3Prompt): number {
  let dataSize = 0;
  const rest = JSON.stringify(prompt, (key, value: unknown) => {
    if (key !== "data" || typeof value !== "string") return value;
    dataSize += value.length;
    return "";
  });
  return dataSize + Buffer.byteLength(rest);
}
