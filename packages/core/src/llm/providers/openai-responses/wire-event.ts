import { joinPieces } from "../join-pieces.ts";

/** An event of the protocol; what it holds is for its reader to check. */
export type WireEvent = Record<string, unknown> & { readonly type: string };

/** Neighbouring pieces of one text as one. */
export function joinDeltas(events: readonly WireEvent[]): WireEvent[] {
  return joinPieces(
    events,
    ({ type, item_id, output_index, delta }) =>
      typeof delta === "string" ? { key: JSON.stringify([type, item_id, output_index]), text: delta } : undefined,
    (event, delta) => ({ ...event, delta }),
  );
}
