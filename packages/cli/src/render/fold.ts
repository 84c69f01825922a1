import { shortened } from "./heading.ts";
import { neutralise } from "./neutralise.ts";

/** The first lines of a result, cut to the width of the terminal, and how many more there are. */
export function folded(text: string, columns: number): string[] {
  const body = text.trimEnd();
  const shown: string[] = [];
  let start = 0;
  while (shown.length < MAX_LINES && start <= body.length) {
    const end = lineEnd(body, start);
    shown.push(shortened(neutralise(body.slice(start, Math.min(end, start + columns * 2 + 1))), columns));
    start = end + 1;
  }
  if (start <= body.length) {
    let more = 0;
    for (; start <= body.length; start = lineEnd(body, start) + 1) more += 1;
    shown.push(`… ${more} more ${more === 1 ? "line" : "lines"}`);
  }
  return shown;
}

const MAX_LINES = 5;

function lineEnd(text: string, start: number): number {
  const end = text.indexOf("\n", start);
  return end === -1 ? text.length : end;
}
