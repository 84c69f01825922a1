import { expect, test } from "vitest";
import { nearestWord } from "./nearest-word.ts";

const keys = ["model_id", "provider", "base_url"];

test("a misspelt word leads to the nearest known one", () => {
  expect(nearestWord("modle_id", keys)).toBe("model_id");
  expect(nearestWord("Base_URL", keys)).toBe("base_url");
  expect(nearestWord("provder", keys)).toBe("provider");
});

test("a word that is near to none leads nowhere", () => {
  expect(nearestWord("temperature", keys)).toBeUndefined();
  expect(nearestWord("", keys)).toBeUndefined();
  expect(nearestWord("x", [])).toBeUndefined();
});

test("a short word is not taken for another short one it shares nothing with", () => {
  expect(nearestWord("ab", ["cd"])).toBeUndefined();
});
