import { expect, test } from "vitest";
import { modelMessage, userImage, userText } from "./build.ts";
import { estimateMessageTokens, estimateTokens } from "./estimate-tokens.ts";

test("four ASCII characters count one token, any other character one of its own", () => {
  expect(estimateTokens("abcdefgh")).toBe(2);
  expect(estimateTokens("日本語")).toBe(3);
  expect(estimateTokens("abcd🙂")).toBe(2);
});

test("an image counts the same whatever its size, in an output too", () => {
  const image = `data:image/png;base64,${"A".repeat(100_000)}`;
  const output = modelMessage({
    type: "tool_call_output",
    role: "user",
    output: "abcd",
    tool_call_id: "1",
    images: [image],
  });
  expect(estimateMessageTokens([userText("abcd"), userImage(image)])).toBe(1601);
  expect(estimateMessageTokens([output])).toBe(1601);
});
