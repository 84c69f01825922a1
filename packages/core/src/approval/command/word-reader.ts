import { unescapeAnsi } from "./ansi-escapes.ts";
import type { Cursor } from "./cursor.ts";

/** A word of a command line with its quoting undone. */
export interface Word {
  text: string;
  /** What stood before the first quoting. */
  head: string;
  quoted: boolean;
  /** Where the cursor stood behind it. */
  end: number;
}

/** What a word is part of. */
export interface CommandLine {
  /** Something keeps the words from being known for certain. */
  doubt(why: string): void;
  /** Reads the commands behind a `$` up to their `)`; false, and nothing read, where they are nested too deep. */
  substitution(): boolean;
  /** Reads commands that stand in a text of their own. */
  text(commands: string): void;
}

/** The signs that end a word. */
export const META: ReadonlySet<string> = new Set(" \t\n;&|<>()");

/** What neither ends a word nor means anything in it. Taken at once: a long word costs ten times its room otherwise. */
const PLAIN = /[^\s;&|<>()'"\\`$~*?[{]+/y;
const MAX_DEPTH = 50;
const EXPANDS = /[A-Za-z0-9_{([@*#?$!-]/;

/** Reads the word at a cursor. */
export class WordReader {
  readonly #cursor: Cursor;
  readonly #line: CommandLine;
  #depth = 0;

  constructor(cursor: Cursor, line: CommandLine) {
    this.#cursor = cursor;
    this.#line = line;
  }

  read(): Word {
    const word: Word = { text: "", head: "", quoted: false, end: 0 };
    let hasPattern = false;
    let hasBrace = false;
    let previous = "";
    while (!this.#cursor.isAtEnd && !META.has(this.#cursor.peek())) {
      if (this.#cursor.skipContinuations()) continue;
      const character = this.#cursor.match(PLAIN) ?? this.#cursor.take();
      if ("'\"\\`$".includes(character)) {
        this.#quotation(word, character);
        previous = character;
        continue;
      }
      if (character === "~" && ["", "=", ":"].includes(previous)) {
        this.#line.doubt("it holds a ~ that stands for a directory");
      }
      previous = character.slice(-1);
      hasPattern ||= "*?[".includes(character);
      hasBrace ||= character === "{";
      word.text += character;
      if (!word.quoted) word.head += character;
    }
    if (hasPattern && word.text !== "[") this.#line.doubt("it holds a pattern for file names");
    if (hasBrace && /,|\.\./.test(word.text)) this.#line.doubt("it holds braces that expand");
    word.end = this.#cursor.at;
    return word;
  }

  /** Reads on behind a sign that quotes or expands. */
  #quotation(word: Word, sign: string): void {
    if (sign === "$") {
      this.#cursor.skipContinuations();
      if (!/['"]/.test(this.#cursor.peek())) {
        const text = this.#dollar(false);
        word.text += text;
        if (!word.quoted) word.head += text;
        return;
      }
      this.#line.doubt("it holds a $ before quotes");
      if (this.#cursor.peek() === '"') return;
      word.quoted = true;
      word.text += this.#ansiQuoted();
      return;
    }
    word.quoted = true;
    if (sign === "'") word.text += this.#singleQuoted();
    else if (sign === '"') word.text += this.#doubleQuoted();
    else if (sign === "`") word.text += this.#backticks();
    else {
      if (this.#cursor.isAtEnd) this.#line.doubt("it ends with a backslash");
      word.text += this.#cursor.take();
    }
  }

  #singleQuoted(): string {
    const text = this.#cursor.upTo("'");
    if (text === undefined) this.#line.doubt("a quote is not closed");
    return text ?? this.#cursor.rest();
  }

  #ansiQuoted(): string {
    this.#cursor.take();
    const text = this.#cursor.match(/(?:[^'\\]|\\.)*/sy) ?? "";
    if (this.#cursor.take() !== "'") this.#line.doubt("a quote is not closed");
    return unescapeAnsi(text);
  }

  #doubleQuoted(): string {
    let text = "";
    while (!this.#cursor.isAtEnd) {
      if (this.#cursor.skipContinuations()) continue;
      const character = this.#cursor.take();
      if (character === '"') return text;
      if (character === "$") text += this.#dollar(true);
      else if (character === "`") text += this.#backticks();
      else if (character === "\\" && /[$`"\\]/.test(this.#cursor.peek())) text += this.#cursor.take();
      else text += character;
    }
    this.#line.doubt("a quote is not closed");
    return text;
  }

  /** Behind a `$`, which is plain where nothing follows that the shell would expand. */
  #dollar(isQuoted: boolean): string {
    this.#cursor.skipContinuations();
    const next = this.#cursor.peek();
    if (!EXPANDS.test(next)) return "$";
    this.#line.doubt("it holds a substitution");
    if (next === "{" && this.#depth < MAX_DEPTH) return `$${this.#parameter(isQuoted)}`;
    return next === "(" && this.#line.substitution() ? "$()" : "$";
  }

  /** Up to the `}`: neither separators nor comments are any in it. */
  #parameter(isQuoted: boolean): string {
    const word: Word = { text: "", head: "", quoted: false, end: 0 };
    this.#depth++;
    while (!this.#cursor.isAtEnd) {
      if (this.#cursor.skipContinuations()) continue;
      const character = this.#cursor.take();
      if (character === "}") break;
      if (isQuoted && character === "$") word.text += this.#dollar(true);
      else if ('"\\`$'.includes(character) || (character === "'" && !isQuoted)) this.#quotation(word, character);
      else word.text += character;
    }
    this.#depth--;
    return `${word.text}}`;
  }

  #backticks(): string {
    this.#line.doubt("it holds a substitution");
    let inner = "";
    while (!this.#cursor.isAtEnd && this.#cursor.peek() !== "`") {
      const character = this.#cursor.take();
      inner += character === "\\" && /[$`\\]/.test(this.#cursor.peek()) ? this.#cursor.take() : character;
    }
    this.#cursor.take();
    this.#line.text(inner);
    return "``";
  }
}
