/**
 * The beginning of a text that is too long, with `…` behind it; a text that fits comes back as it is.
 *
 * @param maxChars - UTF-16 code units of the result at most, the `…` included; a code point is never split.
 */
export function shorten(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  return `${text.slice(0, cutBefore(text, maxChars - 1))}…`;
}

/** `index`, or the one before it where a cut at `index` would split a surrogate pair. */
export function cutBefore(text: string, index: number): number {
  return isHighSurrogate(text.charCodeAt(index - 1)) && isLowSurrogate(text.charCodeAt(index)) ? index - 1 : index;
}

export function isHighSurrogate(codeUnit: number): boolean {
  return codeUnit >= 0xd800 && codeUnit <= 0xdbff;
}

export function isLowSurrogate(codeUnit: number): boolean {
  return codeUnit >= 0xdc00 && codeUnit <= 0xdfff;
}

/** Of UTF-8: a byte inside a character, not its first. */
export function isContinuationByte(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
