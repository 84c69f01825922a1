import fc from "fast-check";
import { expect, test } from "vitest";
import { TextTail } from "./text-tail.ts";

test("the tail is the end of everything, in whole characters and at most so many bytes", () => {
  const piece = fc.string({ unit: fc.constantFrom("a", "é", "漢", "🦔"), maxLength: 12 });
  fc.assert(
    fc.property(fc.array(piece), piece, fc.integer({ min: 1, max: 20 }), (pieces, more, maxBytes) => {
      const tail = new TextTail(maxBytes);
      for (const each of pieces) tail.push(each);
      const whole = pieces.join("") + more;
      const read = tail.read(more);
      expect(whole.endsWith(read)).toBe(true);
      const wider = [...whole].slice(-[...read].length - 1).join("");
      expect(Buffer.byteLength(read)).toBeLessThanOrEqual(maxBytes);
      if (read !== whole) expect(Buffer.byteLength(wider)).toBeGreaterThan(maxBytes);
    }),
  );
});
