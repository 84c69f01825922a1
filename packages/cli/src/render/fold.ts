import { shortened } from "./heading.ts";
import { neutralise } from "./neutralise.ts";

/** The first lines of a result, cut to the width of the terminal, and how many more there are. */
export function folded(text: string, columns: number): string[] {
  const body = text.trimEnd();
  const shown: string[] = [];
  let start = 0;
  while (shown.length < MAX_LINES && start <= body.length) {
    const end = lineEnd(body, start);
    shown.push(cut(body.slice(start, Math.min(end, start + columns * 2 + 1)), columns));
    start = end + 1;
  }
  if (start <= body.length) {
    let more = 0;
    for (; start <= body.length; start = lineEnd(body, start) + 1) more += 1;
    shown.push(`… ${more} more ${more === 1 ? "line" : "lines"}`);
  }
  return shown;
}

/** The last lines of a result, where a failure says why, and before them how many more there are. */
export function foldedEnd(text: string, columns: number): string[] {
  const lines = text.trimEnd().split("\n");
  const shown = lines.slice(-MAX_LINES).map((line) => cut(line.slice(0, columns * 2 + 1), columns));
  const more = lines.length - shown.length;
  return more === 0 ? shown : [`… ${more} earlier ${more === 1 ? "line" : "lines"}`, ...shown];
}

const MAX_LINES = 5;

function cut(line: string, columns: number): string {
  return shortened(neutralise(line), columns);
}

function lineEnd(text: string, start: number): number {
  const end = text.indexOf("\n", start);
  return end === -1 ? text.length : end;
}
