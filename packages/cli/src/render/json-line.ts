import { CONTROLS, hasControls } from "./neutralise.ts";

/** A value as one line of JSON that is harmless to a terminal: what could control one is written as `\\uXXXX`. */
export function jsonLine(value: unknown): string {
  const json = JSON.stringify(value);
  return `${hasControls(json) ? json.replace(CONTROLS, escaped) : json}\n`;
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
