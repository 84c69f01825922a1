/** True for content that begins with a byte order mark of UTF-16. */
export function isUtf16(content: Buffer): boolean {
  return (content[0] === 0xff && content[1] === 0xfe) || (content[0] === 0xfe && content[1] === 0xff);
}
