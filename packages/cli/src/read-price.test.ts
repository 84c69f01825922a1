import { expect, test } from "vitest";
import { readPrice } from "./read-price.ts";

test("two amounts are input and output, four tell cached input apart", () => {
  expect(readPrice("3,15")).toEqual({ input: 3, cache_read: 3, cache_write: 3, output: 15 });
  expect(readPrice("3, 0.3 ,3.75,15")).toEqual({ input: 3, cache_read: 0.3, cache_write: 3.75, output: 15 });
  expect(readPrice("0,0")).toEqual({ input: 0, cache_read: 0, cache_write: 0, output: 0 });
});

test.each([
  "",
  "3",
  "3,15,4",
  "1,2,3,4,5",
  "3,",
  "-1,2",
  "$3,$15",
  "3;15",
  "1e3,2",
  "Infinity,1",
  "NaN,1",
  "9999999,1",
])("the price %j is a usage error", (text) => {
  expect(() => readPrice(text)).toThrow(`--price must be two or four amounts in USD, got ${JSON.stringify(text)}`);
});
