/** What is not seen as itself, or moves what stands around it: controls, formatting characters, separators of lines. */
const INVISIBLE = /[\p{C}\p{Zl}\p{Zp}]/gu;

/** A command line for a person to read: each word in double quotes, with what cannot be seen in it escaped. */
export function quotedWords(words: readonly string[]): string {
  return words.map((word) => visible(JSON.stringify(word))).join(" ");
}

/** A text with what cannot be seen in it escaped; its line feeds stay. */
export function visibleLines(text: string): string {
  return text.split("\n").map(visible).join("\n");
}

function visible(text: string): string {
  return text.replace(INVISIBLE, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}
