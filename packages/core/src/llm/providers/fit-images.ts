import type { LanguageModelV3Prompt } from "@ai-sdk/provider";
import { unsendable } from "../file-part.ts";
import { readImageSize } from "../image-structure.ts";
import { mapParts } from "./map-parts.ts";

/**
 * The same prompt with no more images than one request may have: the oldest of more become texts that say so.
 *
 * Anthropic refuses a request with over 100 images, and one with over 20 as soon as a side of any is longer than 2000
 * pixels. What has become a text stays one while the prompt grows.
 */
export function fitImages(prompt: LanguageModelV3Prompt): LanguageModelV3Prompt {
  const images: { readonly mediaType: string; readonly data: string }[] = [];
  mapParts(prompt, (part) => {
    if (isImage(part)) images.push(part);
    return part;
  });
  if (images.length <= MAX_LARGE_IMAGES) return prompt;
  const [maxImages, kind] = images.some(isLarge)
    ? [MAX_LARGE_IMAGES, "images of over 2000 pixels"]
    : [MAX_IMAGES, "images"];
  let excess = images.length - maxImages;
  return mapParts(prompt, (part) =>
    isImage(part) && excess-- > 0
      ? unsendable("an image", `the request would have more ${kind} than the ${maxImages} that services take`)
      : part,
  );
}

const MAX_IMAGES = 100;
/** Of which one is large. */
const MAX_LARGE_IMAGES = 20;
const MAX_SIDE_OF_MANY_PIXELS = 2000;

function isImage(part: object): part is { mediaType: string; data: string } {
  return (
    "data" in part && typeof part.data === "string" && "mediaType" in part && /^image\//.test(String(part.mediaType))
  );
}

/** An image that cannot be read is not large: what is wrong with it is for others to say. */
function isLarge({ mediaType, data }: { readonly mediaType: string; readonly data: string }): boolean {
  try {
    const { width, height } = readImageSize(mediaType, Buffer.from(data, "base64"));
    return Math.max(width, height) > MAX_SIDE_OF_MANY_PIXELS;
  } catch {
    return false;
  }
}
