import { firstCodePoints } from "./shorten-line.ts";

const MAX_LINES = 10;
const MAX_LINE_CHARACTERS = 120;

/** The beginning of a text for a person to decide by: at most ten lines of 120 characters, each behind a sign. */
export function previewLines(sign: string, text: string): string {
  const lines = text.replace(/\n$/, "").split("\n");
  const shown = lines.slice(0, MAX_LINES).map((line) => {
    const head = firstCodePoints(line, MAX_LINE_CHARACTERS);
    return `${sign} ${head}${head.length < line.length ? "…" : ""}`;
  });
  const more = lines.length - shown.length;
  return [...shown, ...(more > 0 ? [`${sign} … ${more} more lines`] : [])].join("\n");
}
