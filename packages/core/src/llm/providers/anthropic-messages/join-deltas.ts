import { isJsonObject } from "../../json-value.ts";
import { joinPieces } from "../join-pieces.ts";
import type { WireEvent } from "./mend-blocks.ts";

/** Neighbouring pieces of one block as one. */
export function joinDeltas(events: readonly WireEvent[]): readonly WireEvent[] {
  return joinPieces(
    events,
    (event) => {
      const [name, text] = pieceIn(event);
      return typeof text === "string" ? { key: JSON.stringify([event.index, typeOf(event), name]), text } : undefined;
    },
    (event, text) => ({ ...event, delta: { type: typeOf(event), [String(pieceIn(event)[0])]: text } }),
  );
}

function pieceIn({ delta }: WireEvent): [name?: string, text?: unknown] {
  return Object.entries(isJsonObject(delta) ? delta : {}).find(([key]) => key !== "type") ?? [];
}

function typeOf({ delta }: WireEvent): string {
  return String(isJsonObject(delta) ? delta.type : undefined);
}
