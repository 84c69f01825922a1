/**
 * Joins neighbouring pieces of one text that arrived together. Each event costs several streams of the package a pass; of a
 * fast model dozens arrive at once, and nobody can tell them apart any more.
 *
 * @param read - The text of an event that is a piece, and the key that pieces of one text share; `undefined` for any other.
 * @param write - The event with the whole text in place of its own.
 */
export function joinPieces<Event>(
  events: readonly Event[],
  read: (event: Event) => { readonly key: string; readonly text: string } | undefined,
  write: (event: Event, text: string) => Event,
): Event[] {
  const joined: { event: Event; key: string | undefined; texts: string[] }[] = [];
  for (const event of events) {
    const piece = read(event);
    const last = joined.at(-1);
    if (piece && last?.key === piece.key) last.texts.push(piece.text);
    else joined.push({ event, key: piece?.key, texts: piece ? [piece.text] : [] });
  }
  return joined.map(({ event, texts }) => (texts.length > 1 ? write(event, texts.join("")) : event));
}
