/** The media type that the bytes of an image show, given in base64; `undefined` for what is no image that services take. */
export function imageTypeOf(data: string): string | undefined {
  const start = Buffer.from(data.slice(0, 32), "base64").toString("latin1");
  if (start.startsWith("\x89PNG\r\n\x1a\n")) return "image/png";
  if (start.startsWith("\xff\xd8\xff")) return "image/jpeg";
  if (/^GIF8[79]a/.test(start)) return "image/gif";
  return /^RIFF.{4}WEBP/s.test(start) ? "image/webp" : undefined;
}
