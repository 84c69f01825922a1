import { lexCommand } from "./lex-command.ts";

/** The words of a command from one of them on. */
export interface Tail {
  readonly words: readonly string[];
  readonly from: number;
}

/**
 * What a wrapper word such as `env` or `timeout 5` runs: the words behind it, its options and their values. Assignments
 * among them stay.
 *
 * @returns Absent where the first word is no wrapper; without a word where it runs nothing.
 */
export function unwrap({ words, from }: Tail): Tail | undefined {
  const name = programName(words[from] ?? "");
  const wrapper = Object.hasOwn(WRAPPERS, name) ? WRAPPERS[name] : undefined;
  if (wrapper === undefined) return undefined;
  let at = from + 1;
  for (let word = words[at]; word?.startsWith("-"); word = words[at]) {
    at++;
    if (word === "--") break;
    const option = readOption(word, wrapper);
    if (option === undefined) continue;
    const value = option.value ?? words[at++] ?? "";
    if (option.name === wrapper.splits) {
      // The words of the text may be further options of the wrapper.
      return { words: [name, ...splitWords(value), ...words.slice(at)], from: 0 };
    }
  }
  return { words, from: Math.min(words.length, at + (wrapper.operands ?? 0)) };
}

/** The name of a program without its directory. */
export function programName(word: string): string {
  return word.slice(word.lastIndexOf("/") + 1);
}

export function isAssignment(word: string): boolean {
  return /^[A-Za-z_]\w*\+?=/.test(word);
}

interface Wrapper {
  /** Letters of options that take a value, on Linux, the BSDs or macOS. */
  readonly short: string;
  /** Long names of options that take a value. */
  readonly long?: readonly string[];
  /** Words before the command that are no options. */
  readonly operands?: number;
  /** The option whose value is split into words of the command. */
  readonly splits?: string;
}

const WRAPPERS: Readonly<Record<string, Wrapper>> = {
  builtin: { short: "" },
  command: { short: "" },
  doas: { short: "Cu" },
  env: { short: "uCSaP", long: ["unset", "chdir", "split-string", "argv0"], splits: "S" },
  exec: { short: "a" },
  ionice: { short: "cnpPu", long: ["class", "classdata", "pid", "pgid", "uid"] },
  nice: { short: "n", long: ["adjustment"] },
  nohup: { short: "" },
  setsid: { short: "" },
  stdbuf: { short: "ioe", long: ["input", "output", "error"] },
  sudo: {
    short: "aCcDghpRrTtUu",
    long: "close-from chdir group host prompt chroot role command-timeout type other-user user".split(" "),
  },
  time: { short: "fo", long: ["format", "output"] },
  timeout: { short: "ks", long: ["kill-after", "signal"], operands: 1 },
  xargs: {
    short: "adEIJLnPRSs",
    long: "arg-file delimiter max-args max-procs max-chars process-slot-var".split(" "),
  },
};

/** The option of a word that takes a value, and the value where the word holds it too. */
function readOption(word: string, { short, long = [] }: Wrapper): { name: string; value?: string } | undefined {
  if (word.startsWith("--")) {
    const [name = "", ...value] = word.slice(2).split("=");
    const full = long.find((candidate) => candidate.startsWith(name));
    if (full === undefined) return undefined;
    const option = full === "split-string" ? "S" : full;
    return value.length > 0 ? { name: option, value: value.join("=") } : { name: option };
  }
  const at = [...word].findIndex((letter, i) => i > 0 && short.includes(letter));
  if (at === -1) return undefined;
  const value = word.slice(at + 1);
  return { name: word[at] ?? "", ...(value !== "" && { value }) };
}

function splitWords(text: string): readonly string[] {
  return lexCommand(text).parts.flatMap(({ assignments, words }) => [...assignments, ...words]);
}
