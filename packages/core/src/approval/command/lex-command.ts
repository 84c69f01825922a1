import { Cursor } from "./cursor.ts";
import { type CommandLine, META, type Word, WordReader } from "./word-reader.ts";

/** One command of a command line, between two separators. */
export interface CommandPart {
  /** `NAME=value` words before the program. */
  readonly assignments: readonly string[];
  /** The program and its arguments with quoting undone; empty where the part only assigns or redirects. */
  readonly words: readonly string[];
}

export interface LexedCommand {
  readonly parts: readonly CommandPart[];
  /** The first thing that keeps the words from being known for certain; absent when they are. */
  readonly unreadable?: string;
}

/**
 * Takes a command line of bash apart without running anything.
 *
 * Where `unreadable` is absent, the words of each part are exactly those bash passes on. Where it is not, what stands
 * inside substitutions and subshells becomes parts as well, so that whoever looks for a program finds it there.
 */
export function lexCommand(text: string): LexedCommand {
  return new Lexer(text).read();
}

/** Words of the shell's grammar: behind one stands another command, a condition or a name. */
export const CONTROL_WORDS: ReadonlySet<string> = new Set(
  "! { } [[ ]] case coproc do done elif else esac fi for function if in select then time until while".split(" "),
);

const MAX_DEPTH = 50;
const REDIRECTION = operators("&>>", "&>", "<<<", "<<-", "<<", "<>", ">>", ">|", ">&", "<&", "<", ">");
const SEPARATOR = operators("&&", "||", "|&", ";;&", ";;", ";&", "&", ";", "|", "\n", "(", ")");
/** In it `#` and `<<` are operators of their own; with quotes in it, it may be a subshell in a subshell. */
const ARITHMETIC = /\(\((?:[^()'"`\\]|\([^()'"`\\]*\))*\)\)/y;
const ASSIGNMENT = /^[A-Za-z_]\w*(\[.*\])?\+?=/s;

interface HereDocument {
  readonly end: string;
  readonly stripsTabs: boolean;
  readonly isData: boolean;
}

class Lexer implements CommandLine {
  readonly #cursor: Cursor;
  readonly #reader: WordReader;
  readonly #parts: CommandPart[] = [];
  readonly #documents: HereDocument[] = [];
  #depth: number;
  #unreadable: string | undefined;
  #words: Word[] = [];
  #redirects = false;

  constructor(text: string, depth = 0) {
    this.#cursor = new Cursor(text);
    this.#reader = new WordReader(this.#cursor, this);
    this.#depth = depth;
    if (text.includes("\0")) this.doubt("it holds a NUL character");
  }

  read(): LexedCommand {
    this.#list("end");
    return { parts: this.#parts, ...(this.#unreadable !== undefined && { unreadable: this.#unreadable }) };
  }

  doubt(why: string): void {
    this.#unreadable ??= why;
  }

  substitution(): boolean {
    if (this.#arithmetic()) return true;
    if (this.#depth >= MAX_DEPTH) return false;
    const outer = { words: this.#words, redirects: this.#redirects };
    this.#cursor.take();
    this.#words = [];
    this.#redirects = false;
    this.#depth++;
    this.#list(")");
    this.#depth--;
    this.#words = outer.words;
    this.#redirects = outer.redirects;
    return true;
  }

  text(commands: string): void {
    if (this.#depth >= MAX_DEPTH) return;
    for (const part of new Lexer(commands, this.#depth + 1).read().parts) this.#parts.push(part);
  }

  /** Reads commands up to the end of the text or to an unquoted `)`. */
  #list(until: "end" | ")"): void {
    let isWanted = false;
    for (;;) {
      this.#cursor.skipBlanks();
      if (this.#redirection() || this.#arithmetic()) continue;
      const separator = this.#cursor.match(SEPARATOR);
      if (separator === undefined && !this.#cursor.isAtEnd) {
        this.#words.push(this.#reader.read());
        continue;
      }
      const isEmpty = !this.#endPart();
      if (separator === undefined || separator === until) {
        if (isWanted && isEmpty) this.doubt("it ends with an operator");
        if (this.#documents.length > 0) this.doubt("a here-document is not ended");
        return;
      }
      if (separator === "\n") this.#readDocuments();
      else if (separator === "(" || separator === ")") this.doubt("it holds parentheses");
      else if (/^;./.test(separator)) this.doubt(`it holds ${separator}`);
      else if (isEmpty) this.doubt(`no command stands before ${separator}`);
      isWanted = separator === "\n" ? isWanted && isEmpty : /[&|]{2}|\|/.test(separator);
    }
  }

  /** Makes a part of what was read since the last separator; false where that is nothing. */
  #endPart(): boolean {
    const words = this.#words;
    const hasPart = words.length > 0 || this.#redirects;
    const program = words.findIndex(({ head }) => !ASSIGNMENT.test(head));
    const cut = program === -1 ? words.length : program;
    const first = words[cut];
    if (first && !first.quoted && CONTROL_WORDS.has(first.text)) this.doubt(`it holds the word ${first.text}`);
    const texts = words.map(({ text }) => text);
    if (hasPart) this.#parts.push({ assignments: texts.slice(0, cut), words: texts.slice(cut) });
    this.#words = [];
    this.#redirects = false;
    return hasPart;
  }

  #arithmetic(): boolean {
    const expression = this.#cursor.match(ARITHMETIC);
    if (expression === undefined) return false;
    this.doubt("it holds parentheses");
    this.text(expression.slice(2, -2).replaceAll(/[#<>]/g, " "));
    return true;
  }

  #redirection(): boolean {
    const start = this.#cursor.at;
    const operator = this.#cursor.match(REDIRECTION);
    if (operator === undefined) return false;
    this.#redirects = true;
    const before = this.#words.at(-1);
    if (before?.end === start && !before.quoted && !operator.startsWith("&")) {
      const isDescriptor = /^(\d+|\{.*\})$/s.test(before.text);
      if (isDescriptor && !/^\d{1,9}$/.test(before.text)) this.doubt("it names no plain descriptor");
      if (isDescriptor) this.#words.pop();
    }
    this.#cursor.skipBlanks();
    if (this.#cursor.isAtEnd || META.has(this.#cursor.peek())) {
      this.doubt(`${operator} has no plain target`);
      return true;
    }
    const { text, quoted } = this.#reader.read();
    if (operator === "<<" || operator === "<<-") {
      if (!quoted) this.doubt("it has a here-document in which the shell expands");
      this.#documents.push({ end: text, stripsTabs: operator === "<<-", isData: quoted });
    } else if (!isHarmless(operator, text, quoted)) {
      this.doubt("it holds a redirection");
    }
    return true;
  }

  #readDocuments(): void {
    for (const { end, stripsTabs, isData } of this.#documents.splice(0)) {
      const body: string[] = [];
      for (;;) {
        if (this.#cursor.isAtEnd) {
          this.doubt("a here-document is not ended");
          break;
        }
        const line = this.#documentLine(isData);
        if ((stripsTabs ? line.replace(/^\t+/, "") : line) === end) break;
        body.push(line);
      }
      // Quotes mean nothing in it, and substitutions what they mean between double quotes.
      if (!isData) this.text(`"${body.join("\n").replaceAll('"', " ")}"`);
    }
  }

  /** The next line of a here-document; where the shell expands, one that is continued is joined with the next. */
  #documentLine(isData: boolean): string {
    let line = this.#cursor.upTo("\n") ?? this.#cursor.rest();
    while (!isData && !this.#cursor.isAtEnd && /(?<!\\)(?:\\\\)*\\$/.test(line)) {
      line = line.slice(0, -1) + (this.#cursor.upTo("\n") ?? this.#cursor.rest());
    }
    return line;
  }
}

/** The longer signs come first. Between the characters of one a line may be continued. */
function operators(...signs: readonly string[]): RegExp {
  const patterns = signs.map((sign) => Array.from(sign, (character) => `\\${character}`).join("(?:\\\\\n)*"));
  return new RegExp(patterns.join("|"), "y");
}

/** Nothing is read or written but descriptors that are open anyway, and nothing at all. */
function isHarmless(operator: string, target: string, quoted: boolean): boolean {
  if (target === "/dev/null") return operator !== "<<<" && operator !== "<>";
  // Bash ends the target behind `>&-`, whatever quotes follow.
  return !quoted && (operator === ">&" || operator === "<&") && /^(\d+-?|-)$/.test(target);
}
