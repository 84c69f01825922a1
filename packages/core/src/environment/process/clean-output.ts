/** Longest text held back while its line has no end, in characters. */
const MAX_LINE_LENGTH = 64 * 1024;
/** Longest text dropped as the body of a control string that is never closed, in characters. */
const MAX_STRING_LENGTH = 64 * 1024;
/** Longest piece of an escape sequence kept until the rest of it comes, in characters. */
const MAX_SEQUENCE_LENGTH = 256;
const MAX_COLUMN = 1000;

const CONTROL = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/;
/** One token: text, a CSI sequence, the start of a string, an escape, a run of one control or of those without meaning. */
const TOKEN =
  /([^\x00-\x08\x0b-\x1f\x7f-\x9f]+)|(?:\x1b\[|\x9b)([0-?]*)[ -/]*([@-~]?)|(\x1b[PX^_\]]|[\x90\x98\x9d-\x9f])|\x1b[ -/]*[0-~]?|(\r+|\x08+)|[\x00-\x07\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f-\x8f\x91-\x97\x99\x9a\x9c]+/y;
/** What at the end of a piece cannot be judged yet. */
const UNFINISHED = /(?:\r|\x1b[ -/]*|(?:\x1b\[|\x9b)[0-?]*[ -/]*)$/;
/** Ends a control string. ESC and the line end are not part of it: they are read again as what they are. */
const STRING_END = /[\x07\x18\x1a\x9c]|(?=[\x1b\n])/g;

/**
 * Turns what a program printed for a terminal into the text a person would have seen there, piece by piece.
 *
 * Escape sequences and control characters other than newline and tab are removed, `\r\n` becomes `\n`, and a line that
 * is redrawn (carriage return, backspace, erase, cursor to a column) leaves only its last state. The last line is held
 * back until it ends, since it may yet be redrawn; one longer than 64 Ki characters is given out in parts. However the
 * text is cut into pieces, the result is the same as long as no line is longer than that.
 */
export class OutputCleaner {
  /** The line without an end; while it is redrawn it stands in `#cells`. */
  #line = "";
  #cells: string[] | undefined;
  #column = 0;
  /** The beginning of an escape sequence. */
  #unfinished = "";
  /** Characters dropped of a control string; undefined outside one. */
  #dropped: number | undefined;

  /** What would be seen of the line that has not ended. */
  get pending(): string {
    return this.#cells?.join("") ?? this.#line;
  }

  /** What comes next is added to what is pending, as it is, where it holds no control character. */
  get isUndisturbed(): boolean {
    return this.#cells === undefined && this.#dropped === undefined && this.#unfinished === "";
  }

  /**
   * Takes the next piece; returns the text that will not change any more.
   *
   * @param plain - It is known to hold no control character.
   */
  push(text: string, plain = false): string {
    return this.isUndisturbed && (plain || !CONTROL.test(text)) ? this.#plain(text) : this.#controlled(text);
  }

  /** Returns the line that has not ended, as it is now; what comes next stands on a line of its own. */
  flush(): string {
    return this.#takeLine();
  }

  #plain(text: string): string {
    const lineStart = text.lastIndexOf("\n") + 1;
    const ready = lineStart === 0 ? "" : this.#line + text.slice(0, lineStart);
    this.#line = lineStart === 0 ? this.#line + text : text.slice(lineStart);
    return this.#line.length > MAX_LINE_LENGTH ? ready + this.#takeLine() : ready;
  }

  #controlled(piece: string): string {
    const joined = this.#unfinished + piece;
    const unfinished = UNFINISHED.exec(joined)?.[0] ?? "";
    const text = joined.slice(0, joined.length - unfinished.length);
    this.#unfinished = unfinished.length > MAX_SEQUENCE_LENGTH ? "" : unfinished;
    let ready = "";
    let position = 0;
    while (position < text.length) {
      if (this.#dropped !== undefined) {
        position = this.#dropString(text, position, this.#dropped);
        continue;
      }
      TOKEN.lastIndex = position;
      const [token = "", printed, parameters, final, opensString, control] = TOKEN.exec(text) ?? [];
      position += token.length;
      if (printed !== undefined) ready += this.#print(printed);
      else if (final !== undefined) this.#edit(final, Number(parameters));
      else if (opensString !== undefined) this.#dropped = 0;
      else if (control?.startsWith("\b")) this.#moveTo(this.#cursor() - control.length);
      else if (control !== undefined && text[position] !== "\n") this.#moveTo(0);
    }
    return ready;
  }

  /** Skips the body of a control string; returns where to read on. */
  #dropString(text: string, from: number, dropped: number): number {
    STRING_END.lastIndex = from;
    const end = STRING_END.exec(text);
    const bodyEnd = end?.index ?? text.length;
    const isGivenUp = dropped + bodyEnd - from > MAX_STRING_LENGTH;
    this.#dropped = end || isGivenUp ? undefined : dropped + bodyEnd - from;
    return isGivenUp ? from + MAX_STRING_LENGTH - dropped : bodyEnd + (end?.[0].length ?? 0);
  }

  #print(text: string): string {
    if (this.#cells === undefined) return this.#plain(text);
    const lineEnd = text.indexOf("\n");
    for (const character of lineEnd === -1 ? text : text.slice(0, lineEnd)) this.#put(this.#cells, character);
    if (lineEnd !== -1) return `${this.#takeLine()}\n${this.#plain(text.slice(lineEnd + 1))}`;
    return this.#cells.length > MAX_LINE_LENGTH ? this.#takeLine() : "";
  }

  #put(cells: string[], character: string): void {
    while (cells.length < this.#column) cells.push(" ");
    cells[this.#column++] = character;
  }

  /** Carries out the CSI sequences that redraw a line; the others only decorate it. */
  #edit(final: string, parameter: number): void {
    if (final === "K") this.#erase(parameter);
    else if (final === "G") this.#moveTo((parameter || 1) - 1);
    else if (final === "C") this.#moveTo(this.#cursor() + (parameter || 1));
    else if (final === "D") this.#moveTo(this.#cursor() - (parameter || 1));
  }

  #erase(what: number): void {
    // Coloured output is full of "erase to the end" with nothing there.
    if (this.#cells === undefined && what === 0) return;
    const cells = this.#redrawn();
    if (what === 0) cells.length = Math.min(cells.length, this.#column);
    else if (what === 1) cells.fill(" ", 0, this.#column + 1);
    else if (what === 2) cells.length = 0;
  }

  #moveTo(column: number): void {
    const cells = this.#redrawn();
    this.#column = Math.max(0, Math.min(column, Math.max(cells.length, MAX_COLUMN)));
  }

  #cursor(): number {
    this.#redrawn();
    return this.#column;
  }

  /** The line as cells, one for each code point, with the cursor behind the last. */
  #redrawn(): string[] {
    if (this.#cells === undefined) {
      this.#cells = [...this.#line];
      this.#column = this.#cells.length;
      this.#line = "";
    }
    return this.#cells;
  }

  #takeLine(): string {
    const line = this.pending;
    this.#line = "";
    this.#cells = undefined;
    return line;
  }
}
