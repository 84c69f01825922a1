/**
 * What cannot stand before an absolute path: the rest of a longer one, be it a name, a variable or a substitution. A
 * regular expression's source; an option such as `-I` may stand there.
 */
export const PATH_START: string =
  "(?:(?<![\\p{L}\\p{N}\\p{M}_.~)}\\]*?%#\\\\-]|[~)}][\"']|\\$\\w+[\"'])|(?<=(?:^|[\\s\"'=])-\\p{L}))";

const PATH_END = "(?![\\p{L}\\p{N}\\p{M}_@+~-]|\\.[\\p{L}\\p{N}_]|%[\\dA-F]{2}|\\\\[ &()';])";

/**
 * Matches a path where no other name begins or ends, also as a shell or a URL spells it (`/my\ dir`, `/my%20dir`,
 * `/my//dir`); `undefined` for one too short to be told from other text.
 */
export function pathPattern(path: string): RegExp | undefined {
  const names = path.split("/").filter((name) => name !== "");
  if (names.length === 0) return undefined;
  const spelled = names.map((name) => [...name].map(spelledCharacter).join(""));
  return new RegExp(`${PATH_START}/${spelled.join("/(?:\\.?/)*")}${PATH_END}`, "gu");
}

/** Matches what any of the patterns matches, the one of the longest source first; `undefined` for none. */
export function anyPath(patterns: readonly RegExp[]): RegExp | undefined {
  if (patterns.length === 0) return undefined;
  const sources = patterns.map(({ source }) => source).sort((a, b) => b.length - a.length);
  return new RegExp(sources.join("|"), "gu");
}

function spelledCharacter(character: string): string {
  const plain = character.replace(/[\\^$.*+?()[\]{}|/]/, "\\$&");
  if (/[\w.-]/.test(character)) return plain;
  const percent = Buffer.from(character).toString("hex").toUpperCase().replace(/../g, "%$&");
  return `(?:${/[\p{L}\p{N}\p{M}]/u.test(character) ? "" : "\\\\?"}${plain}|${percent})`;
}
