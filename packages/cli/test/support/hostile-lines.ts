import type { ToolDefinition } from "@rookery/core";
import fc from "fast-check";

/** A line for `tool call -`, and the path that it may change. */
export interface HostileLine {
  readonly text: string;
  readonly named?: string;
}

/**
 * Lines that are calls of these tools with hostile arguments, of tools that do not exist, and no calls at all; the same
 * for the same seed. Commands only read, and what is written lies in the workspace or in `../outside`.
 */
export function hostileLines(tools: readonly ToolDefinition[], count: number, seed: number): HostileLine[] {
  const calls = tools.map(callOf);
  const unknown = fc.record({ name: fc.constantFrom(...TEXTS), arguments: junk }).map(lineOf);
  const bad = fc.oneof(
    fc.constantFrom(...BAD_LINES).map((text) => ({ text })),
    fc
      .record({ name: fc.constantFrom(...tools.map(({ name }) => name)), arguments: junk }, { requiredKeys: ["name"] })
      .map(lineOf),
  );
  const line = fc.oneof(
    ...calls.map((arbitrary) => ({ weight: 6, arbitrary })),
    { weight: 2, arbitrary: unknown },
    { weight: 2, arbitrary: bad },
  );
  return fc.sample(line, { numRuns: count, seed });
}

function callOf({ name, permission, parameters }: ToolDefinition): fc.Arbitrary<HostileLine> {
  const { properties, required = [] } = parameters as { properties: Record<string, object>; required?: string[] };
  const paths = permission === "r" ? [...PATHS, ...READ_ONLY_PATHS] : PATHS;
  const valueFor = (key: string): fc.Arbitrary<unknown> => {
    // Without one a command that waits would be waited for.
    if (key === "yield_time_ms") return fc.constantFrom<unknown>(0, -1, 1, 250, "250", 250.7, 1e-9, [], "soon");
    const usual = { weight: 12, arbitrary: fc.constantFrom<unknown>(...valuesFor(key, paths)) };
    return fc.oneof(usual, { weight: 1, arbitrary: junk });
  };
  const model = Object.fromEntries(Object.keys(properties).map((key) => [key, valueFor(key)]));
  const always = Object.keys(properties).filter((key) => required.includes(key) || key === "yield_time_ms");
  const whole = fc.record(model, { requiredKeys: always });
  const partial = fc.record(model, { requiredKeys: always.filter((key) => key === "yield_time_ms") });
  const extra = fc.record({ args: whole, extra: fc.dictionary(fc.constantFrom(...EXTRA_KEYS), junk) });
  const args = fc.oneof(
    { weight: 10, arbitrary: whole },
    { weight: 1, arbitrary: partial },
    { weight: 1, arbitrary: extra.map(({ args, extra }) => ({ ...extra, ...args })) },
  );
  return args.map((args) => {
    const path = args.file_path ?? args.path;
    const named = permission !== "r" && typeof path === "string" && { named: path };
    return { ...lineOf({ name, arguments: args }), ...named };
  });
}

function valuesFor(key: string, paths: readonly string[]): readonly unknown[] {
  if (key.endsWith("path")) return paths;
  if (key === "workdir") return [".", "dir", "..", "a.txt", "/nonexistent", "a\0b", "loop", ""];
  if (/^(cmd|command)$/.test(key)) return COMMANDS;
  if (/^(offset|limit|startLine|endLine)$/.test(key)) return NUMBERS;
  if (key.endsWith("_all") || key.endsWith("background")) return [true, false, "true", "yes", 1];
  return TEXTS;
}

function lineOf(call: object): HostileLine {
  return { text: JSON.stringify(call) };
}

/** What `makeHostileWorkspace` made, and what is not there. */
const PATHS = [
  ...["a.txt", "./a.txt", "dir/../a.txt", "crlf.txt", "latin1.txt", "utf16.txt", "empty", "binary", "big.txt", "é.txt"],
  ...["é.txt".normalize("NFD"), "A.TXT", "twin", "link", "out", "dangling", "loop", "fifo", "zero", "dir", "dir/", ""],
  ...[
    ".",
    "..",
    "a.txt/b",
    "new",
    "new/deep/é dir/x",
    "line\nfeed",
    "-rf",
    "~/x",
    "$HOME",
    "x\0y",
    "\ud800",
    "name ".repeat(60),
  ],
  ...["/".repeat(5000), "../outside/new", "../outside/kept", "con", "__proto__", ".env", "locked/x", "\u202etxt.a"],
];

const READ_ONLY_PATHS = [
  ...["/dev/zero", "/dev/full", "/dev/stdin", "/dev/tty", "/proc/self/mem", "/proc/self/environ", "/proc/self/fd/0"],
  ...["/proc/kmsg", "/proc/self/fd", "/proc/1/root", "/etc/shadow", "/proc/self/pagemap", "/sys/kernel/notes"],
];

const NUMBERS = [0, 1, -1, 2, 3, 1e9, Number.MAX_SAFE_INTEGER, -1e308, 0.5, "3", "1e9", " 2 ", "0x10", "NaN", -0];

const TEXTS = [
  ...[
    "",
    "a",
    "one",
    "two",
    "line",
    "one\ntwo",
    "\n",
    "\r\n",
    "\0",
    "\ud800",
    "\udc00\ud800",
    "é",
    "é".normalize("NFD"),
  ],
  ...["$& $1 $` $' $$", "\u2028\u2029", "\u202e", "\ufeff", "1e9", "-1", "__proto__", "constructor", "toString", "[]"],
  ...["null", "\x1b]52;c;eA==\x07", "x".repeat(100_000), "line\n".repeat(20_000), "f".repeat(64), "\u0003", "\u0004"],
];

const junk: fc.Arbitrary<unknown> = fc.constantFrom<unknown>(
  ...[null, true, -1, 0.5, 1e308, "1e9", "", [], {}, [[[["x"]]]], { a: { b: null } }, "x".repeat(1_000_000)],
  JSON.parse('{"__proto__":{"limit":1},"constructor":{"prototype":{}}}'),
);

const EXTRA_KEYS = ["__proto__", "constructor", "hasOwnProperty", "toString", "length", "", "\0", "state", "signal"];

const BAD_LINES = [
  ...[
    "{",
    "null",
    "3",
    '"read_file"',
    "[]",
    "{}",
    "\ufeff{}",
    '{"name":3}',
    '{"name":null,"arguments":{}}',
    "\0",
    "NaN",
  ],
  ...[
    '{"name":"read_file","arguments":"{}"}',
    '{"name":"read_file","arguments":[]}',
    '{"name":"\ud800"}',
    "}{",
    "\x1b[2J",
  ],
  '{"name":"a","name":"b","arguments":{"__proto__":1}}',
  `{"name":"read_file","arguments":{"file_path":${"[".repeat(50_000)}${"]".repeat(50_000)}}}`,
  `{"name":"read","arguments":${'{"path":'.repeat(20_000)}1${"}".repeat(20_000)}}`,
  `{"name":"${"n".repeat(1_000_000)}"}`,
];

/** Long enough to be found afterwards, if it was left behind. */
export const ENDLESS = "sleep 98765.4321";

const COMMANDS = [
  ...["", " ", "echo a\0b", "echo \ud800", "echo 'open", 'echo "open', "cat <<EOF", "echo $((1/0))", "(", "}", "fi"],
  ...["printf 'a\\0b'", "printf '\\377\\376'", "printf '\\033]52;c;eA==\\007\\033[2J'", "head -c 200000 /dev/urandom"],
  ...["yes | head -c 3000000", "seq 1 100000 >&2", "head -c 400000 /dev/zero | tr '\\0' x", "printf '\\342'"],
  ...["for i in 1 2 3 4 5 6 7 8 9; do printf '%s\\r' $i; done", "exit 1", "exit 255", "exit 300", "kill -9 $$"],
  ...[
    "kill -TERM $$",
    "kill -SEGV $$",
    "exec 1>&- 2>&-",
    "exec </dev/null; cat",
    "cat </dev/null",
    "trap '' TERM; exit 3",
  ],
  ...[`${ENDLESS} & echo on`, `(${ENDLESS} &); echo on`, `nohup setsid ${ENDLESS} >/dev/null 2>&1 & echo on`],
  ...[
    "cd /nonexistent",
    "./no-such-program",
    "git commit </dev/null",
    "sudo -n true",
    "ulimit -n 3; ls",
    "cat fifo & :",
  ],
  ...[
    "unset PATH; ls",
    'printf %s "$0" "$#"',
    "true #",
    "echo é | od -c",
    "set -u; echo $nope",
    "enable -n echo; echo x",
  ],
];
