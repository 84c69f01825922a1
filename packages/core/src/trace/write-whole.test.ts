import { expect, test } from "vitest";
import { writeWhole } from "./write-whole.ts";

test("bytes that the system takes at once are one write", () => {
  const calls: number[] = [];
  writeWhole(7, Buffer.alloc(5_000_000), (_fd, bytes, offset) => calls.push(offset) && bytes.length);
  expect(calls).toEqual([0]);
});

test("after a short write the rest follows", () => {
  let disk = "";
  writeWhole(7, Buffer.from("abcdefgh"), (_fd, bytes, offset) => {
    const part = bytes.subarray(offset, offset + 3);
    disk += Buffer.from(part).toString();
    return part.length;
  });
  expect(disk).toBe("abcdefgh");
});

test("a system that takes nothing and reports nothing ends the writing", () => {
  let calls = 0;
  const write = (): number => (calls++ === 0 ? 3 : 0);
  expect(() => writeWhole(7, Buffer.from("abcdefgh"), write)).toThrow("the system stopped writing after 3 of 8 bytes");
  expect(calls).toBe(2);
});
