/** What bash makes of the text in `$'…'`; escapes that it does not know stay. */
export function unescapeAnsi(text: string): string {
  return text.replaceAll(
    /\\(?:x([\da-fA-F]{1,2})|u([\da-fA-F]{1,4})|U([\da-fA-F]{1,8})|([0-7]{1,3})|c(.)|(.))/gs,
    (whole, byte?: string, short?: string, long?: string, octal?: string, control?: string, sign = "") => {
      if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8) & 0xff);
      if (control !== undefined) return String.fromCharCode(control.charCodeAt(0) & 0x1f);
      const hex = byte ?? short ?? long;
      if (hex !== undefined) return characterOf(Number.parseInt(hex, 16));
      return SIGNS[sign] ?? (/[\\'"?]/.test(sign) ? sign : whole);
    },
  );
}

const SIGNS: Readonly<Record<string, string>> = {
  a: "\x07",
  b: "\b",
  e: "\x1b",
  E: "\x1b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
};

function characterOf(code: number): string {
  return code > 0x10ffff ? "\ufffd" : String.fromCodePoint(code);
}
