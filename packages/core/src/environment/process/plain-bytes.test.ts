import fc from "fast-check";
import { expect, test } from "vitest";
import { isPlainAscii } from "./plain-bytes.ts";

const byte = fc.oneof({ weight: 9, arbitrary: fc.integer({ min: 0x20, max: 0x7e }) }, fc.integer({ min: 0, max: 255 }));

test("whatever the bytes and wherever they lie in memory, the answer is that of looking at each", () => {
  fc.assert(
    fc.property(fc.array(byte, { maxLength: 40 }), fc.nat(7), (values, offset) => {
      const bytes = new Uint8Array(64).subarray(offset, offset + values.length);
      bytes.set(values);
      expect(isPlainAscii(bytes)).toBe(values.every((value) => /^[\x20-\x7e\n\t]$/.test(String.fromCharCode(value))));
    }),
    { numRuns: 1000 },
  );
});
