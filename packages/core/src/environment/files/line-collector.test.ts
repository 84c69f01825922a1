import { expect, test } from "vitest";
import { LineCollector } from "./line-collector.ts";

test("a line that goes on in the next piece stays whole, though the pieces share one buffer", () => {
  const lines = new LineCollector({ offset: 1, limit: 10, maxCharacters: 1000 });
  const buffer = Buffer.alloc(8);
  for (const piece of ["one\ntwo-", "three-fo", "ur\nfive\n"]) {
    buffer.write(piece.padEnd(8));
    lines.push(buffer.subarray(0, piece.length));
  }
  lines.end();
  expect(lines.kept).toEqual(["one", "two-three-four", "five"]);
});
