/** An event of the protocol; what it holds is for its reader to check. */
export type WireEvent = Record<string, unknown> & { readonly type: string };

/** Neighbouring pieces of one text joined to one event: each event costs several streams of the package a pass. */
export function joinPieces(events: readonly WireEvent[]): WireEvent[] {
  const joined: WireEvent[] = [];
  for (const event of events) {
    const last = joined.at(-1);
    if (last && continues(last, event)) joined[joined.length - 1] = { ...last, delta: `${last.delta}${event.delta}` };
    else joined.push(event);
  }
  return joined;
}

function continues(last: WireEvent, next: WireEvent): boolean {
  const isPiece = typeof last.delta === "string" && typeof next.delta === "string" && last.type === next.type;
  return isPiece && last.item_id === next.item_id && last.output_index === next.output_index;
}
