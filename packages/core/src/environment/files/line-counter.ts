const LF = 0x0a;

/** The number of lines of some bytes: what follows the last line feed counts as a line unless it is empty. */
export function countLines(bytes: Uint8Array): number {
  const counter = new LineCounter();
  counter.push(bytes);
  return counter.count;
}

/** Counts the lines of content that comes in pieces. */
export class LineCounter {
  #feeds = 0;
  #open = false;

  push(bytes: Uint8Array): void {
    for (let at = bytes.indexOf(LF); at !== -1; at = bytes.indexOf(LF, at + 1)) this.#feeds++;
    if (bytes.length > 0) this.#open = bytes.at(-1) !== LF;
  }

  get count(): number {
    return this.#feeds + (this.#open ? 1 : 0);
  }
}
