import { isJsonObject } from "../../json-value.ts";
import type { WireEvent } from "./mend-blocks.ts";

/**
 * Joins neighbouring pieces of one block that arrived together. Each event costs several streams of the package a pass; of a
 * fast model dozens arrive at once, and nobody can tell them apart any more.
 */
export function joinDeltas(events: readonly WireEvent[]): readonly WireEvent[] {
  const joined: { first: WireEvent; kind: string; name: string; pieces: string[] }[] = [];
  for (const event of events) {
    const { kind = "", name = "", piece } = readPiece(event);
    const last = joined.at(-1);
    if (piece !== undefined && last?.kind === kind && last.first.index === event.index) last.pieces.push(piece);
    else joined.push({ first: event, kind, name, pieces: piece === undefined ? [] : [piece] });
  }
  return joined.map(({ first, kind, name, pieces }) =>
    pieces.length > 1 ? { ...first, delta: { type: kind, [name]: pieces.join("") } } : first,
  );
}

function readPiece({ delta }: WireEvent): { kind?: string; name?: string; piece?: string } {
  if (!isJsonObject(delta)) return {};
  const [name, piece] = Object.entries(delta).find(([key]) => key !== "type") ?? [];
  return name !== undefined && typeof piece === "string" ? { kind: String(delta.type), name, piece } : {};
}
