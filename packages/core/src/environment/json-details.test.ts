import { expect, test } from "vitest";
import { jsonDetails } from "./json-details.ts";

test("details become plain JSON: undefined is dropped, dates are spelled out, and the copy is independent", () => {
  const details = { path: "a", when: new Date(0), nothing: undefined, list: [1] };
  const copy = jsonDetails(details);
  details.list.push(2);
  expect(copy).toEqual({ path: "a", when: "1970-01-01T00:00:00.000Z", list: [1] });
  expect(jsonDetails(undefined)).toBeUndefined();
  expect(jsonDetails(() => 1)).toBeUndefined();
  expect(jsonDetails(null)).toBeNull();
});

test("details over 64 KiB are replaced by their size and their beginning", () => {
  const fits = "x".repeat(64 * 1024 - 2);
  expect(jsonDetails(fits)).toBe(fits);
  const cut = jsonDetails({ log: "é".repeat(40_000) });
  expect(cut).toEqual({ truncated: true, bytes: 80_010, preview: `{"log":"${"é".repeat(8183)}…` });
  expect(Buffer.byteLength(JSON.stringify(jsonDetails("\u0001".repeat(70_000))))).toBeLessThan(64 * 1024);
});

test("details that JSON cannot say become their error", () => {
  expect(jsonDetails({ n: 1n })).toEqual({
    error: "these details cannot be made JSON: Do not know how to serialize a BigInt",
  });
  const cycle: Record<string, unknown> = {};
  cycle.self = cycle;
  expect(jsonDetails(cycle)).toEqual({
    error: expect.stringMatching(/^these details cannot be made JSON: .*circular/s),
  });
});
