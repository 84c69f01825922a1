import { CONTROL_WORDS } from "./lex-command.ts";

/** Words as a shell reads them back: quoted where they have to be. */
export function shellWords(words: readonly string[]): string {
  return words.map(quoted).join(" ");
}

function quoted(word: string): string {
  const isPlain = /^(?:[\w@%+:,./-]+|-[\w@%+:,./=-]+)$/.test(word) && !CONTROL_WORDS.has(word);
  return isPlain ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
