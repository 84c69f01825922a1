import type { LanguageModelV3Prompt } from "@ai-sdk/provider";
import { expect, test } from "vitest";
import { colourImage } from "../colour-image.ts";
import { fitImages } from "./fit-images.ts";

const small = colourImage([0, 0, 0], 2);
const large = colourImage([0, 0, 0], 2001);

/** One image in a message of the user, then one in the output of each call. */
function promptOf(images: readonly string[]): LanguageModelV3Prompt {
  const [first = "", ...others] = images;
  return [
    { role: "user", content: [{ type: "file", mediaType: "image/png", data: first }] },
    ...others.map((data, i) => ({
      role: "tool" as const,
      content: [
        {
          type: "tool-result" as const,
          toolCallId: `c${i}`,
          toolName: "look",
          output: {
            type: "content" as const,
            value: [{ type: "image-data" as const, mediaType: "image/png", data }],
          },
        },
      ],
    })),
  ];
}

/** Of each image, in order, whether it is still there. */
const kept = (prompt: LanguageModelV3Prompt): boolean[] =>
  prompt.map((message) => !JSON.stringify(message).includes("could not be sent"));

test("20 images may be large, and 100 small ones are sent", () => {
  for (const images of [Array(20).fill(large), Array(100).fill(small)]) {
    expect(fitImages(promptOf(images))).toEqual(promptOf(images));
  }
});

test("of more images of which one is large the newest 20 stay, of more small ones the newest 100", () => {
  const oneLarge = [...Array(10).fill(small), large, ...Array(12).fill(small)];
  expect(kept(fitImages(promptOf(oneLarge)))).toEqual([...Array(3).fill(false), ...Array(20).fill(true)]);
  expect(kept(fitImages(promptOf(Array(103).fill(small))))).toEqual([
    ...Array(3).fill(false),
    ...Array(100).fill(true),
  ]);
  expect(JSON.stringify(fitImages(promptOf(oneLarge))[0])).toContain(
    "[an image could not be sent: the request would have more images of over 2000 pixels than the 20 that services take]",
  );
});

test("what has become a text stays one while the prompt grows", () => {
  const images = [large, ...Array(40).fill(small)];
  let gone = 0;
  for (let length = 1; length <= images.length; length++) {
    const now = kept(fitImages(promptOf(images.slice(0, length)))).filter((is) => !is).length;
    expect(now).toBeGreaterThanOrEqual(gone);
    gone = now;
  }
  expect(gone).toBe(21);
});
