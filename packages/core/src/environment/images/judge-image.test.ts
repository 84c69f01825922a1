import { crc32 } from "node:zlib";
import fc from "fast-check";
import { expect, test } from "vitest";
import { SAMPLE_IMAGES, SAMPLE_PNG } from "../../../test/support/sample-images.ts";
import { FileProblem } from "../files/file-problem.ts";
import { judgeImage } from "./judge-image.ts";

/** The sample PNG, with other numbers in its head. */
function pngOf(width: number, height: number): Buffer {
  const png = Buffer.from(SAMPLE_PNG);
  png.writeUInt32BE(width, 16);
  png.writeUInt32BE(height, 20);
  png.writeUInt32BE(crc32(png.subarray(12, 29)), 29);
  return png;
}

test("PNG, JPEG, GIF and WebP are accepted, by their content (PT-165)", () => {
  expect(Object.values(SAMPLE_IMAGES).map(judgeImage)).toEqual([
    { mediaType: "image/png", format: "PNG", width: 2, height: 2 },
    { mediaType: "image/jpeg", format: "JPEG", width: 1, height: 1 },
    { mediaType: "image/gif", format: "GIF", width: 1, height: 1 },
    { mediaType: "image/webp", format: "WebP", width: 1, height: 1 },
  ]);
});

test.each([
  ["", "it is empty (0 bytes), not an image; name another one"],
  ["<!DOCTYPE html><p>Sign-in required</p>", "it is an HTML page, not a PNG, JPEG, GIF or WebP image; name an image"],
  ["\ufeff\n<html lang=en>", "it is an HTML page, not a PNG, JPEG, GIF or WebP image; name an image"],
  [
    '<?xml version="1.0"?>\n<svg width="9"/>',
    "it is an SVG drawing, not a PNG, JPEG, GIF or WebP image; convert it to PNG with the shell",
  ],
  ["BM\0\0\0\0", "it is a BMP image, not a PNG, JPEG, GIF or WebP image; convert it to PNG with the shell"],
  ["\0\0\0\x1cftypavif", "it is an AVIF image, not a PNG, JPEG, GIF or WebP image; convert it to PNG with the shell"],
  ["%PDF-1.7", "it is a PDF document, not a PNG, JPEG, GIF or WebP image; convert it to PNG with the shell"],
  ["plain\n", "it is text, not a PNG, JPEG, GIF or WebP image; name an image"],
  ["\0\x01\x02", "it is of an unknown kind, not a PNG, JPEG, GIF or WebP image; name an image"],
])("%j is refused with what it is and what to do (PT-165)", (content, message) => {
  expect(() => judgeImage(Buffer.from(content))).toThrow(new FileProblem(message));
});

test("5 MiB are accepted, one byte more is refused (PT-166)", () => {
  const padded = (length: number): Buffer => Buffer.concat([SAMPLE_PNG], length);
  expect(judgeImage(padded(5 * 1024 * 1024)).format).toBe("PNG");
  expect(() => judgeImage(padded(5 * 1024 * 1024 + 1))).toThrow(
    "it has 5242881 bytes, over 5 MiB, which is too large to be sent to a model; make it smaller with the shell",
  );
});

test("8000 pixels a side are accepted; more of them, or none, are refused", () => {
  expect(judgeImage(pngOf(8000, 8000))).toMatchObject({ width: 8000, height: 8000 });
  expect(() => judgeImage(pngOf(20_000, 20_000))).toThrow("it is 20000 x 20000 pixels, over 8000 on a side");
  expect(() => judgeImage(pngOf(2, 0))).toThrow("it is a corrupt PNG image; get it again, or make a new one");
});

test("wherever an image is cut off, it is refused", () => {
  for (const image of Object.values(SAMPLE_IMAGES)) {
    const pixelsEnd = image === SAMPLE_IMAGES["image/gif"] ? image.length - 1 : image.length;
    for (let length = 0; length < pixelsEnd; length++) {
      expect(() => judgeImage(image.subarray(0, length))).toThrow(FileProblem);
    }
  }
  expect(() => judgeImage(SAMPLE_PNG.subarray(0, 40))).toThrow(
    "it is a PNG image that breaks off after 40 bytes; get it again, whole",
  );
});

test("a PNG with a wrong checksum is corrupt", () => {
  const damaged = Buffer.from(SAMPLE_PNG);
  damaged.writeUInt8(damaged.readUInt8(45) ^ 1, 45);
  expect(() => judgeImage(damaged)).toThrow("it is a corrupt PNG image");
});

test("whatever stands behind the first bytes of a format, the answer is a judgement", () => {
  const heads = Object.values(SAMPLE_IMAGES).map((image) => image.subarray(0, 12));
  fc.assert(
    fc.property(fc.constantFrom(...heads), fc.uint8Array({ maxLength: 200 }), (head, rest) => {
      try {
        expect(judgeImage(Buffer.concat([head, rest])).width).toBeGreaterThan(0);
      } catch (error) {
        expect(error).toBeInstanceOf(FileProblem);
      }
    }),
  );
});
