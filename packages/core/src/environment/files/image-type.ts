/** The first bytes that tell a kind of image. */
export const IMAGE_HEAD_BYTES = 12;

/** The MIME type of an image that providers accept, by its first bytes; absent for anything else. */
export function imageType(head: Buffer): string | undefined {
  const text = head.toString("latin1");
  if (text.startsWith("\x89PNG\r\n\x1a\n")) return "image/png";
  if (text.startsWith("\xff\xd8\xff")) return "image/jpeg";
  if (/^GIF8[79]a/.test(text)) return "image/gif";
  return /^RIFF.{4}WEBP/s.test(text) ? "image/webp" : undefined;
}
