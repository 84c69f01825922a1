import { DamagedImage, type ImageSize, readImageSize } from "../../llm/image-structure.ts";
import { FileProblem } from "../files/file-problem.ts";
import { imageType } from "../files/image-type.ts";
import { describeTooLarge, MAX_IMAGE_BYTES, MAX_IMAGE_SIDE_PIXELS } from "./image-limits.ts";

/** What the bytes of an image tell of it. */
export interface ImageFacts extends ImageSize {
  readonly mediaType: string;
  /** `PNG`, `JPEG`, `GIF` or `WebP`. */
  readonly format: string;
}

const FORMATS: Readonly<Record<string, string>> = {
  "image/png": "PNG",
  "image/jpeg": "JPEG",
  "image/gif": "GIF",
  "image/webp": "WebP",
};

/**
 * Judges an image by its bytes alone, before it gets into a history: one that a service refuses would have every later
 * request refused with it.
 *
 * @throws {FileProblem} What it is instead, or what is wrong with it, and what to do.
 */
export function judgeImage(bytes: Buffer): ImageFacts {
  if (bytes.length === 0) throw new FileProblem("it is empty (0 bytes), not an image; name another one");
  const mediaType = imageType(bytes.subarray(0, 16));
  const format = mediaType && FORMATS[mediaType];
  if (mediaType === undefined || format === undefined) throw new FileProblem(describeOther(bytes));
  if (bytes.length > MAX_IMAGE_BYTES) throw new FileProblem(describeTooLarge(bytes.length));
  const { width, height } = sizeOf(mediaType, format, bytes);
  if (Math.max(width, height) > MAX_IMAGE_SIDE_PIXELS) {
    throw new FileProblem(
      `it is ${width} x ${height} pixels, over ${MAX_IMAGE_SIDE_PIXELS} on a side, which is too large to be sent to a ` +
        "model; make it smaller with the shell",
    );
  }
  return { mediaType, format, width, height };
}

function sizeOf(mediaType: string, format: string, bytes: Buffer): ImageSize {
  try {
    return readImageSize(mediaType, bytes);
  } catch (error) {
    if (error instanceof RangeError) {
      throw new FileProblem(`it is a ${format} image that breaks off after ${bytes.length} bytes; get it again, whole`);
    }
    if (!(error instanceof DamagedImage)) throw error;
    throw new FileProblem(`it is a corrupt ${format} image; get it again, or make a new one`);
  }
}

const CONVERT = "convert it to PNG with the shell";
const OTHER = "name an image";

/** What is often found in place of an image, by how it begins. */
const OTHERS: readonly (readonly [begins: RegExp, what: string, advice: string])[] = [
  [/^\s*(<\?xml[^>]*>\s*)?(<!--.*?-->\s*)?(<!doctype svg[^>]*>\s*)?<svg[\s>]/is, "an SVG drawing", CONVERT],
  [/^\s*(<!--.*?-->\s*)?<(!doctype html|html|head|body)\b/is, "an HTML page", OTHER],
  [/^BM/, "a BMP image", CONVERT],
  [/^(II\*\0|MM\0\*)/, "a TIFF image", CONVERT],
  [/^.{4}ftyp(avif|avis)/s, "an AVIF image", CONVERT],
  [/^.{4}ftyp(hei|mif)/s, "an HEIC image", CONVERT],
  [/^\0\0\x01\0/, "an icon file", CONVERT],
  [/^%PDF-/, "a PDF document", CONVERT],
  [/^\x1f\x8b/, "a gzip archive", OTHER],
  [/^[\t\n\r -~\x80-\xff]*$/, "text", OTHER],
];

function describeOther(bytes: Buffer): string {
  const head = bytes.toString("latin1", 0, 1024).replace(/^\xef\xbb\xbf/, "");
  const [, what, advice] = OTHERS.find(([begins]) => begins.test(head)) ?? [undefined, "of an unknown kind", OTHER];
  return `it is ${what}, not a PNG, JPEG, GIF or WebP image; ${advice}`;
}
