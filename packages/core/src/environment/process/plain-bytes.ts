/**
 * True when bytes are printable ASCII, newlines and tabs and nothing else: text that can be shown as it is.
 *
 * Looks at four bytes at a time, since every byte a command prints comes through here.
 */
export function isPlainAscii(bytes: Uint8Array): boolean {
  if (bytes.length < 8) return bytes.every(isPlain);
  const head = -bytes.byteOffset & 3;
  const words = new Int32Array(bytes.buffer, bytes.byteOffset + head, (bytes.length - head) >> 2);
  // An iterator would cost more than the looking.
  for (let i = 0; i < words.length; i++) {
    const word = words[i] ?? 0;
    // The top bit of some byte is set if one of the four is above 0x7e or below 0x20; borrows only add false alarms.
    if (((word | (word - 0x20202020) | (word + 0x01010101)) & 0x80808080) === 0) continue;
    if (!isPlain(word & 255) || !isPlain((word >> 8) & 255) || !isPlain((word >> 16) & 255) || !isPlain(word >>> 24)) {
      return false;
    }
  }
  return bytes.subarray(0, head).every(isPlain) && bytes.subarray(head + 4 * words.length).every(isPlain);
}

const NEWLINE = 0x0a;
const TAB = 0x09;

function isPlain(byte: number): boolean {
  return (byte >= 0x20 && byte <= 0x7e) || byte === NEWLINE || byte === TAB;
}
