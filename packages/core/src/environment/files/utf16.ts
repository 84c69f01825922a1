/** How much of a content without a mark is looked at. */
const SAMPLE_BYTES = 1024;
const LEAST_SAMPLE_BYTES = 8;

/** True for content that begins with a byte order mark of UTF-16, or looks like UTF-16 without one. */
export function isUtf16(content: Buffer): boolean {
  const [first, second] = content;
  return (
    (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff) || unmarkedUtf16(content) !== undefined
  );
}

/** The byte order of what looks like UTF-16 without a mark: at its beginning nearly every second byte is zero, and no other. */
export function unmarkedUtf16(content: Buffer): "UTF-16LE" | "UTF-16BE" | undefined {
  const sample = content.subarray(0, SAMPLE_BYTES);
  if (sample.length < LEAST_SAMPLE_BYTES) return undefined;
  const zeros = [0, 0];
  for (const [at, byte] of sample.entries()) if (byte === 0) zeros[at % 2] = (zeros[at % 2] ?? 0) + 1;
  const [even = 0, odd = 0] = zeros;
  const most = (sample.length / 2) * 0.75;
  if (even === 0 && odd >= most) return "UTF-16LE";
  return odd === 0 && even >= most ? "UTF-16BE" : undefined;
}
