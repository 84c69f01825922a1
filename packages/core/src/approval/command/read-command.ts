import { CONTROL_WORDS, type LexedCommand, lexCommand } from "./lex-command.ts";
import { isAssignment, programName, type Tail, unwrap } from "./unwrap.ts";

/**
 * Reads a command line as rules see it. It is `unreadable` where its words cannot be known for certain, where a part
 * would run a text as a command (`eval`, `bash -c`), and where it is longer than 10000 characters.
 */
export function readCommand(text: string): LexedCommand {
  const lexed = lexCommand(text);
  const unreadable =
    lexed.unreadable ??
    (text.length > MAX_CHARS ? `it is longer than ${MAX_CHARS} characters` : undefined) ??
    lexed.parts.flatMap(({ words }) => reductions(words).flatMap((tail) => runsText(tail) ?? []))[0]?.why;
  return { parts: lexed.parts, ...(unreadable !== undefined && { unreadable }) };
}

/**
 * Every command that a line could run, as far as it can be read: of each part the whole, then what remains after each
 * leading assignment, control word and wrapper word; and so on inside texts that are run as commands.
 */
export function* possibleCommands(text: string, depth = 0): Generator<Tail> {
  for (const { words } of lexCommand(text).parts) {
    for (const tail of reductions(words)) {
      yield tail;
      const inner = runsText(tail)?.text;
      if (inner !== undefined && depth < MAX_DEPTH) yield* possibleCommands(inner, depth + 1);
    }
  }
}

const MAX_CHARS = 10_000;
const MAX_DEPTH = 5;
const SHELLS = new Set("bash sh dash zsh ksh mksh fish ash rbash su".split(" "));
const TEXT_RUNNERS = new Set(
  ". alias compgen declare enable eval fc hash let local mapfile readarray source trap typeset".split(" "),
);
/** Builtins that take the name of a variable: in its subscript the shell substitutes. */
const NAME_TAKERS = new Set("[ printf read test unset wait".split(" "));
/** Control words behind which a name stands, and a command only behind the name. */
const NAMING_WORDS = new Set("case coproc for function select".split(" "));

function reductions(words: readonly string[]): Tail[] {
  const tails: Tail[] = [];
  for (let tail: Tail | undefined = { words, from: 0 }; tail !== undefined; tail = reduced(tail)) tails.push(tail);
  return tails;
}

function reduced(tail: Tail): Tail | undefined {
  const { words, from } = tail;
  const first = words[from];
  if (first === undefined) return undefined;
  const inner = unwrap(tail);
  if (inner !== undefined) return inner;
  const isPassedOver = isAssignment(first) || CONTROL_WORDS.has(first) || NAMING_WORDS.has(words[from - 1] ?? "");
  return isPassedOver ? { words, from: from + 1 } : undefined;
}

/** The text that a command runs as another one, and how it is said; the text is empty where it is not in the words. */
function runsText({ words, from }: Tail): { why: string; text: string } | undefined {
  const name = programName(words[from] ?? "");
  const rest = words.slice(from + 1);
  if (SHELLS.has(name)) {
    const option = rest.findIndex((word) => IS_COMMAND_OPTION.test(word));
    const text = shellText(rest.slice(option));
    return option === -1 ? undefined : { why: `${name} -c runs a text as a command`, text };
  }
  const evaluates = NAME_TAKERS.has(name) && rest.some((word) => /\w\[(?!\d+\])/.test(word));
  if (!evaluates && !TEXT_RUNNERS.has(name)) return undefined;
  return { why: `${name} runs a text as a command`, text: rest.slice(rest[0] === "--" ? 1 : 0).join(" ") };
}

const IS_COMMAND_OPTION = /^-[A-Za-z]*c[A-Za-z]*$/;

/** The first word behind the options of a shell and the values of `-o` and `-O`. */
function shellText(words: readonly string[]): string {
  let values = 0;
  for (const word of words) {
    if (/^[-+]/.test(word)) values += word.startsWith("--") ? 0 : (word.match(/o/gi)?.length ?? 0);
    else if (values-- === 0) return word;
  }
  return "";
}
