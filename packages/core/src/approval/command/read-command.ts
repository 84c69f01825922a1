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
const SHELLS = new Set(["bash", "sh", "dash", "zsh", "ksh", "fish", "ash"]);
const TEXT_RUNNERS = new Set(["eval", ".", "source", "trap", "alias"]);

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
  return isAssignment(first) || CONTROL_WORDS.has(first) ? { words, from: from + 1 } : undefined;
}

/** The text that a command runs as another one, and how it is said; the text is empty where it is not in the words. */
function runsText({ words, from }: Tail): { why: string; text: string } | undefined {
  const name = programName(words[from] ?? "");
  const isShell = SHELLS.has(name);
  if (!isShell && !TEXT_RUNNERS.has(name)) return undefined;
  const rest = words.slice(from + 1);
  if (!isShell) return { why: `${name} runs a text as a command`, text: rest.join(" ") };
  const option = rest.findIndex((word) => /^-[A-Za-z]*c[A-Za-z]*$/.test(word));
  if (option === -1) return undefined;
  const text = rest.slice(option + 1).find((word) => !/^[-+]/.test(word)) ?? "";
  return { why: `${name} -c runs a text as a command`, text };
}
