/**
 * Makes text from a model, a tool or an error harmless to a terminal: control characters other than line feed and tab,
 * and marks that turn the direction of writing, become visible signs (`␛[2J`). CRLF becomes LF.
 */
export function neutralise(text: string): string {
  return hasControls(text) ? text.replaceAll("\r\n", "\n").replace(CONTROLS, visibleSign) : text;
}

/** The same on one line, with every run of white space as one blank. */
export function oneLine(text: string): string {
  return neutralise(text.replace(/\s+/g, " ").trim());
}

/**
 * The same for text that somebody decides on: invisible characters become visible too, and long runs of blanks or empty
 * lines, which would push the rest out of sight, are counted instead.
 */
export function exposed(text: string): string {
  return neutralise(text)
    .replace(INVISIBLES, visibleSign)
    .replace(/\n(?:[^\S\n]*\n){3,}/g, (lines) => `\n⟨${lines.split("\n").length - 2} empty lines⟩\n`)
    .replace(/[^\S\n]{16,}/g, (blanks) => `⟨${blanks.length} blanks⟩`);
}

/** Whether a text holds anything that could control a terminal. */
export function hasControls(text: string): boolean {
  return CONTROL.test(text);
}

function visibleSign(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20) return String.fromCodePoint(0x2400 + code);
  if (code === 0x7f) return "␡";
  return `⟨U+${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
}

const CONTROL = /[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/;
/** Every one of them, to be replaced. */
export const CONTROLS: RegExp = new RegExp(CONTROL, "g");
const INVISIBLES = /[\p{Default_Ignorable_Code_Point}\u2800\ufff9-\ufffb]/gu;
