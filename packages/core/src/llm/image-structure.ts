import { crc32 } from "node:zlib";

/** In pixels. */
export interface ImageSize {
  readonly width: number;
  readonly height: number;
}

/** The structure of an image is not what its format wants. */
export class DamagedImage extends Error {}

/**
 * Walks through an image of a known format, without decoding its pixels.
 *
 * @param mediaType - As `imageType` tells it.
 * @throws {DamagedImage} Something is not as the format wants it.
 * @throws {RangeError} It ends too early.
 */
export function readImageSize(mediaType: string, bytes: Buffer): ImageSize {
  const read = { "image/png": png, "image/jpeg": jpeg, "image/gif": gif, "image/webp": webp }[mediaType];
  const size = read?.(bytes);
  if (size === undefined || size.width === 0 || size.height === 0) throw new DamagedImage();
  return size;
}

/** Chunks to `IEND`, those that matter with the right checksum. */
function png(bytes: Buffer): ImageSize {
  let hasPixels = false;
  for (let at = 8; ; ) {
    const end = at + 8 + bytes.readUInt32BE(at);
    const type = bytes.toString("latin1", at + 4, at + 8);
    const checksum = bytes.readUInt32BE(end);
    if (/^[A-Z]/.test(type) && checksum !== crc32(bytes.subarray(at + 4, end))) throw new DamagedImage();
    if ((at === 8) !== (type === "IHDR")) throw new DamagedImage();
    if (type === "IEND") break;
    hasPixels ||= type === "IDAT";
    at = end + 4;
  }
  if (!hasPixels) throw new DamagedImage();
  return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
}

/** Segments to the first scan, and an end after it. */
function jpeg(bytes: Buffer): ImageSize | undefined {
  let size: ImageSize | undefined;
  for (let at = 2; ; ) {
    if (bytes.readUInt8(at) !== 0xff) throw new DamagedImage();
    const marker = bytes.readUInt8(at + 1);
    if (marker === 0xff) {
      at++;
      continue;
    }
    const length = bytes.readUInt16BE(at + 2);
    if (isFrame(marker)) size = { height: bytes.readUInt16BE(at + 5), width: bytes.readUInt16BE(at + 7) };
    at += 2 + length;
    if (marker !== START_OF_SCAN) continue;
    if (bytes.indexOf(END_OF_JPEG, at) < 0) throw new RangeError();
    return size;
  }
}

const START_OF_SCAN = 0xda;
const END_OF_JPEG = Buffer.of(0xff, 0xd9);

/** The markers between C0 and CF that begin a picture. */
function isFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
}

/** Blocks to the end of the first picture; more of them are an animation. */
function gif(bytes: Buffer): ImageSize {
  let at = 13 + colourTableBytes(bytes.readUInt8(10));
  for (;;) {
    const block = bytes.readUInt8(at);
    if (block === 0x2c) {
      subBlocksEnd(bytes, at + 11 + colourTableBytes(bytes.readUInt8(at + 9)));
      return { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) };
    }
    if (block !== 0x21) throw new DamagedImage();
    at = subBlocksEnd(bytes, at + 2);
  }
}

function colourTableBytes(flags: number): number {
  return flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0;
}

function subBlocksEnd(bytes: Buffer, start: number): number {
  let at = start;
  for (let length = bytes.readUInt8(at); length > 0; length = bytes.readUInt8(at)) at += 1 + length;
  return at + 1;
}

/** Chunks to the end that the head announces, a picture among them. */
function webp(bytes: Buffer): ImageSize | undefined {
  const end = 8 + bytes.readUInt32LE(4);
  if (end > bytes.length) throw new RangeError();
  let hasPicture = false;
  for (let at = 12; at + 8 <= end; ) {
    const length = bytes.readUInt32LE(at + 4);
    if (at + 8 + length > end) throw new DamagedImage();
    hasPicture ||= ["VP8 ", "VP8L", "ANMF"].includes(bytes.toString("latin1", at, at + 4));
    at += 8 + length + (length % 2);
  }
  return hasPicture ? webpSize(bytes) : undefined;
}

function webpSize(bytes: Buffer): ImageSize | undefined {
  switch (bytes.toString("latin1", 12, 16)) {
    case "VP8 ":
      if (bytes.readUIntBE(23, 3) !== 0x9d012a) return undefined;
      return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
    case "VP8L": {
      if (bytes.readUInt8(20) !== 0x2f) return undefined;
      const bits = bytes.readUInt32LE(21);
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
    }
    case "VP8X":
      return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 };
    default:
      return undefined;
  }
}
