import { firstCodePoints } from "./shorten-line.ts";

const MAX_SCANNED_BYTES = 4 * 1024 * 1024;
const MAX_SCANNED_LINES = 20_000;
const MAX_WANTED_LINES = 50;
const MAX_COMPARED_CHARACTERS = 200;
const MAX_SHOWN_LINES = 6;
const LEAST_SIMILARITY = 0.4;

/**
 * Why a text was not found, for who has to mend it: the lines of the file that come nearest, and the first character in
 * which they differ. Bounded: the first 4 MiB and 20,000 lines are compared, by 200 characters each.
 *
 * @param wanted - The text that is nowhere in `content`; not empty.
 * @param name - What the text is called.
 */
export function describeNearestLines(content: Buffer, wanted: string, name = "old_string"): string {
  if (content.length === 0) return "the file is empty";
  const ending = wanted.includes("\r") ? "\n" : /\r?\n/;
  const text = content.toString("utf8", 0, MAX_SCANNED_BYTES).replaceAll("\0", "␀");
  const lines = text.split(ending, MAX_SCANNED_LINES);
  const wantedLines = wanted.split("\n");
  const nearest = nearestStart(lines, wantedLines);
  if (nearest === undefined) return "no line of the file resembles it; read the file again";
  const start = Math.max(0, nearest);
  const difference = firstDifference(lines, wantedLines, start, name);
  const from = Math.max(start, difference.line - 2);
  const shown = lines.slice(from, Math.min(start + wantedLines.length, from + MAX_SHOWN_LINES));
  const numbered = shown.map((line, i) => `${String(from + i + 1).padStart(6)}\t${firstCodePoints(line, 200)}`);
  return `nearest lines:\n${numbered.join("\n")}\nfirst difference in ${difference.text}`;
}

/**
 * Where the text would begin: every line that stands there already counts with its length, the line that tells most
 * also where it is only similar.
 */
function nearestStart(lines: readonly string[], wantedLines: readonly string[]): number | undefined {
  const anchor = longestLine(wantedLines);
  const similarity = similarityTo(wantedLines[anchor] ?? "");
  const weights = new Map<number, number>();
  let best: number | undefined;
  const add = (start: number, weight: number): void => {
    if (weight === 0) return;
    const sum = (weights.get(start) ?? 0) + weight;
    weights.set(start, sum);
    if (best === undefined || sum > (weights.get(best) ?? 0)) best = start;
  };
  const places = placesOf(wantedLines);
  for (const [index, line] of lines.entries()) {
    const text = comparable(line);
    const equal = places.get(text) ?? [];
    for (const place of equal) add(index - place, text.length);
    if (!equal.includes(anchor)) add(index - anchor, similarity(text));
  }
  return best;
}

/** The line that tells most, by its place. */
function longestLine(lines: readonly string[]): number {
  const lengths = lines.slice(0, MAX_WANTED_LINES).map((line) => comparable(line).length);
  return lengths.indexOf(Math.max(...lengths));
}

/** Each line of the text with the numbers of the lines that equal it. */
function placesOf(wantedLines: readonly string[]): Map<string, number[]> {
  const places = new Map<string, number[]>();
  for (const [i, line] of wantedLines.slice(0, MAX_WANTED_LINES).entries()) {
    const text = comparable(line);
    places.set(text, [...(places.get(text) ?? []), i]);
  }
  return places;
}

/** How many characters two lines have in common, by Dice's coefficient over their pairs; 0 when they are unlike. */
function similarityTo(wanted: string): (line: string) => number {
  const target = comparable(wanted);
  const pairs = pairsOf(target);
  return (line) => {
    if (line.length * 3 < target.length || target.length * 3 < line.length) return 0;
    const own = pairsOf(line);
    let common = 0;
    for (const pair of own) if (pairs.has(pair)) common++;
    const score = (2 * common) / Math.max(1, own.size + pairs.size);
    return score < LEAST_SIMILARITY ? 0 : score * target.length;
  };
}

/** Each two characters that stand side by side, as one number. */
function pairsOf(text: string): Set<number> {
  const pairs = new Set<number>();
  for (let i = 1; i < text.length; i++) pairs.add(text.charCodeAt(i - 1) * 65_536 + text.charCodeAt(i));
  return pairs;
}

function comparable(line: string): string {
  return line.trim().slice(0, MAX_COMPARED_CHARACTERS);
}

function firstDifference(
  lines: readonly string[],
  wantedLines: readonly string[],
  start: number,
  name: string,
): { line: number; text: string } {
  for (const [i, wanted] of wantedLines.entries()) {
    const line = start + i;
    const found = lines[line];
    if (found === undefined) return { line, text: `line ${line + 1}: the file ends before it, ${name} goes on` };
    // The text may begin in the middle of its first line and end in the middle of its last.
    const indent = i === 0 && !/^\s/.test(wanted) ? found.length - found.trimStart().length : 0;
    const isLast = i === wantedLines.length - 1;
    const column = differingColumn(found.slice(indent), wanted);
    const fits = (i === 0 && found.endsWith(wanted)) || (isLast && column === wanted.length);
    if (column === undefined || fits) continue;
    return {
      line,
      text: `line ${line + 1}, column ${indent + column + 1}: ${describeDifference(found.slice(indent), wanted, column, name)}`,
    };
  }
  const undecodable = wantedLines.findIndex((wanted) => wanted.includes("\ufffd"));
  const line = start + Math.max(0, undecodable);
  return { line, text: `line ${line + 1}: ${undecodable === -1 ? "where the text begins" : undecodableText(name)}` };
}

/** The offset of the first character that differs; absent for equal texts. */
function differingColumn(found: string, wanted: string): number | undefined {
  if (found === wanted) return undefined;
  let column = 0;
  while (column < wanted.length && found[column] === wanted[column]) column++;
  return column;
}

function undecodableText(name: string): string {
  return `it holds bytes that are not UTF-8, which no ${name} can match; leave them out of it`;
}

function describeDifference(found: string, wanted: string, column: number, name: string): string {
  return `the file has ${nameCharacter(found, column)}, ${name} has ${nameCharacter(wanted, column)}`;
}

function nameCharacter(text: string, offset: number): string {
  const codePoint = text.codePointAt(offset);
  if (codePoint === undefined) return "the end of the line";
  const code = `U+${codePoint.toString(16).toUpperCase().padStart(4, "0")}`;
  if (codePoint === 0x09) return `a tab (${code})`;
  if (codePoint === 0x20) return `a space (${code})`;
  if (codePoint === 0xfffd) return `\ufffd (${code}, or a byte that is not UTF-8)`;
  const character = String.fromCodePoint(codePoint);
  return /[\p{C}\p{Z}]/u.test(character) ? code : `${character} (${code})`;
}
