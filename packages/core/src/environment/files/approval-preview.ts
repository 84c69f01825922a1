import { firstCodePoints } from "./shorten-line.ts";

const MAX_LINES = 10;
const MAX_LINE_CHARACTERS = 120;

/** The beginning of a text for a person to decide by: at most ten lines of 120 characters, each behind a sign. */
export function previewLines(sign: string, text: string): string {
  const body = text.endsWith("\n") ? text.slice(0, -1) : text;
  const shown = body.split("\n", MAX_LINES).map((line) => {
    const head = firstCodePoints(line, MAX_LINE_CHARACTERS);
    return `${sign} ${head}${head.length < line.length ? "…" : ""}`;
  });
  const more = feedsIn(body) + 1 - shown.length;
  return [...shown, ...(more > 0 ? [`${sign} … ${more} more lines`] : [])].join("\n");
}

function feedsIn(text: string): number {
  let count = 0;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) count++;
  return count;
}
