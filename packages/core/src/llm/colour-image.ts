import { crc32, deflateSync } from "node:zlib";

/** A square PNG of one colour, in base64. @param rgb - Red, green and blue, 0 to 255. @param side - In pixels. */
export function colourImage(rgb: readonly [number, number, number], side: number): string {
  // Each row begins with the number of its filter, none.
  const row = Buffer.concat([Buffer.of(0), ...Array.from({ length: side }, () => Buffer.from(rgb))]);
  const pixels = Buffer.concat(Array.from({ length: side }, () => row));
  const header = Buffer.alloc(13);
  header.writeUInt32BE(side, 0);
  header.writeUInt32BE(side, 4);
  header.set([BITS_PER_CHANNEL, TRUE_COLOUR], 8);
  const chunks = [chunk("IHDR", header), chunk("IDAT", deflateSync(pixels)), chunk("IEND", Buffer.alloc(0))];
  return Buffer.concat([SIGNATURE, ...chunks]).toString("base64");
}

const SIGNATURE = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");
const BITS_PER_CHANNEL = 8;
const TRUE_COLOUR = 2;

function chunk(type: string, data: Buffer): Buffer {
  const content = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(crc32(content));
  return Buffer.concat([length, content, checksum]);
}
