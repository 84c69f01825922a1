import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { expect, test } from "vitest";
import { isPlainAscii } from "./plain-bytes.ts";

const byte = fc.oneof({ weight: 9, arbitrary: fc.integer({ min: 0x20, max: 0x7e }) }, fc.integer({ min: 0, max: 255 }));

const isPlain = (value: number) => /^[\x20-\x7e\n\t]$/.test(String.fromCharCode(value));

test("whatever the bytes and wherever they lie in memory, the answer is that of looking at each", () => {
  fc.assert(
    fc.property(fc.array(byte, { maxLength: 40 }), fc.nat(7), (values, offset) => {
      const bytes = new Uint8Array(64).subarray(offset, offset + values.length);
      bytes.set(values);
      expect(isPlainAscii(bytes)).toBe(values.every(isPlain));
    }),
    { numRuns: 1000 },
  );
});

test("one byte of any kind, anywhere among many plain ones, is seen for what it is", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1024, max: 300_000 }),
      fc.nat(299_999),
      fc.nat(255),
      fc.nat(15),
      (length, at, value, offset) => {
        const bytes = new Uint8Array(length + offset).fill(0x7e).subarray(offset);
        bytes[at % length] = value;
        expect(isPlainAscii(bytes)).toBe(isPlain(value));
      },
    ),
  );
});

test("what was looked at before has no say", () => {
  expect(isPlainAscii(new Uint8Array(2000).fill(0x1b))).toBe(false);
  expect(isPlainAscii(new Uint8Array(1025).fill(0x41))).toBe(true);
});

test("without WebAssembly the answers are the same", () => {
  const module = new URL("./plain-bytes.ts", import.meta.url).href;
  const script = `const { isPlainAscii } = await import(${JSON.stringify(module)});
    console.log(typeof WebAssembly, isPlainAscii(Buffer.alloc(2000, 65)), isPlainAscii(Buffer.alloc(2000, 27)));`;
  const args = [
    "--jitless",
    "--no-warnings",
    "--import",
    import.meta.resolve("tsx"),
    "--input-type=module",
    "-e",
    script,
  ];
  expect(execFileSync(process.execPath, args, { encoding: "utf8" })).toBe("undefined true false\n");
});
