import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { possibleCommands, readCommand } from "./read-command.ts";
import { shellWords } from "./shell-words.ts";

const words = (command: string): string[][] => readCommand(command).parts.map((part) => [...part.words]);

test.each([
  ["a b; c && d || e | f & g", [["a", "b"], ["c"], ["d"], ["e"], ["f"], ["g"]]],
  ["a\nb\n\n", [["a"], ["b"]]],
  ["a &&\n\n# why\n b", [["a"], ["b"]]],
  ["a |& b;", [["a"], ["b"]]],
  [`a "x;y" 'p|q' r\\;s`, [["a", "x;y", "p|q", "r;s"]]],
  [`a b'c'"d"\\e`, [["a", "bcde"]]],
  [`a "\\$x \\y \\" \\\\"`, [["a", '$x \\y " \\']]],
  ["a '' \"\"", [["a", "", ""]]],
  ["a # b; c", [["a"]]],
  ["a b#c '#'", [["a", "b#c", "#"]]],
  ["a \\\n b", [["a", "b"]]],
  ["a 2>&1 >/dev/null 2>/dev/null b </dev/null &>/dev/null >&2 2>&-", [["a", "b"]]],
  ["a HEAD~2 stash@{0} {} x$ 100% a=b", [["a", "HEAD~2", "stash@{0}", "{}", "x$", "100%", "a=b"]]],
  ["cat <<'E' | b\n$(x) `y` \"\nE\nc", [["cat"], ["b"], ["c"]]],
  ['cat <<-"E" && b\n\tx\n\tE', [["cat"], ["b"]]],
  ["cat <<'A' <<\\B\n1\nA\n2\nB\nc", [["cat"], ["c"]]],
  ["[ -f x ]", [["[", "-f", "x", "]"]]],
  ["a &\\\n>/dev/null b", [["a", "b"]]],
  ["cat <<\\\n-'E'\nE\nb\n-E", [["cat"], ["b"], ["-E"]]],
])("%j is read as its words", (command, expected) => {
  expect(readCommand(command).unreadable).toBeUndefined();
  expect(words(command)).toEqual(expected);
});

test("assignments stand apart from the words", () => {
  expect(readCommand("A=1 B+='x y' c D=2; E=3").parts).toEqual([
    { assignments: ["A=1", "B+=x y"], words: ["c", "D=2"] },
    { assignments: ["E=3"], words: [] },
  ]);
  expect(readCommand("'A'=1 b").parts).toEqual([{ assignments: [], words: ["A=1", "b"] }]);
});

test.each([
  ["a $(b)", "substitution"],
  ["a `b`", "substitution"],
  ['a "$(b)"', "substitution"],
  [`a "\${x:-$(b)}"`, "substitution"],
  ["a $x", "substitution"],
  ["a $\\\nx", "substitution"],
  ["a $'b'", "$ before quotes"],
  ["a <(b)", "no plain target"],
  ["a > b", "redirection"],
  ["a >> b", "redirection"],
  ["a < b", "redirection"],
  ["a &> b", "redirection"],
  ["a 2>&b", "redirection"],
  ["a >&-''", "redirection"],
  ["a <<< b", "redirection"],
  ["a >/dev/null/../b", "redirection"],
  ["a {x}>/dev/null", "descriptor"],
  ["cat <<E\nx\nE", "here-document in which"],
  ["cat <<'E'\nx", "not ended"],
  ["cat <<'E'", "not ended"],
  ["(a)", "parentheses"],
  ["a() { b; }", "parentheses"],
  ["((a))", "parentheses"],
  ["if a; then b; fi", "the word if"],
  ["{ a; }", "the word {"],
  ["! a", "the word !"],
  ["[[ a ]]", "pattern"],
  ["a; ; b", "stands before ;"],
  ["a ;; b", "it holds ;;"],
  ["a &&& b", "stands before &"],
  ["&& a", "stands before &&"],
  ["a &&", "ends with an operator"],
  ["a |\n", "ends with an operator"],
  ["a 'b", "quote is not closed"],
  ['a "b', "quote is not closed"],
  ["a \\", "ends with a backslash"],
  ["a *.ts", "pattern"],
  ["a b?", "pattern"],
  ["a [b]", "pattern"],
  ["a {b,c}", "braces"],
  ["a {1..3}", "braces"],
  ["a ~/b", "~"],
  ["a --x=~/b", "~"],
  ["a\0b", "NUL"],
  ["eval a", "eval runs a text"],
  [". a", ". runs a text"],
  ["bash -c 'a'", "bash -c runs a text"],
  ["env /bin/sh -ec 'a'", "sh -c runs a text"],
  ["trap 'a' EXIT", "trap runs a text"],
  ["mapfile -C 'a' b", "mapfile runs a text"],
  ["printf -v 'a[$(b)]' c", "printf runs a text"],
  ["[ -v 'a[b]' ]", "[ runs a text"],
  [`a ${"b".repeat(10_000)}`, "longer than 10000"],
])("%j is unreadable", (command, why) => {
  expect(readCommand(command).unreadable).toContain(why);
});

test.each([
  "rm x",
  "A=1 rm x",
  "nohup nice -n 5 /bin/rm x",
  "r''m x",
  "\\rm x",
  "env -i -u A B=1 rm x",
  "env -S 'rm x'",
  "env --split-string='-i rm x'",
  "timeout -k 5 --signal KILL 10s rm x",
  "sudo -u root -- rm x",
  "command -p rm x",
  "xargs -0 -n 1 rm x",
  "time -p rm x",
  "stdbuf -oL exec -a y rm x",
  "bash -lc 'cd / && rm x'",
  "bash -o pipefail -c 'rm x'",
  'eval "rm" x',
  "a $(rm x)",
  `a "\${y:-$(rm x)}"`,
  "a `rm x`",
  'a "`echo \\`rm x\\``"',
  "a <(rm x)",
  "(rm x)",
  "{ rm x; }",
  "if true; then rm x; fi",
  "while ! rm x; do :; done",
  'cat <<E\n"$(rm x)\nE',
  "a 'b\nrm x' && rm x >out",
  "rm x 'unclosed",
  `${"env ".repeat(500)}rm x`,
  "xargs --max-lines rm x",
  "env -P /bin rm x",
  "{fd}>y rm x",
  "function f { rm x; }",
  "coproc NAME { rm x; }",
  "for i do rm x; done",
  "echo $'\\'' ; rm x #'",
  "$'\\x72\\155' x",
  `a \${b%% #*}; rm x`,
  `a \${b:-'}'}; rm x`,
  `a "\${b:-'}"; rm x`,
  `a "\${b:-\${c:-'}}"; rm x`,
  "a $((1 << 2))\nrm x",
  "((a = 16 #f)); rm x",
  '((a "))"); rm x)',
  "cat <<E\nE\\\n\nrm x\nE",
  "bash -ceo pipefail 'rm x'",
  "bash -c -o pipefail 'rm x'",
  "trap -- 'rm x' EXIT",
  "printf -v 'a[$(rm x)]' b",
])("rm is found in %j", (command) => {
  expect(
    [...possibleCommands(command)].some(
      ({ words, from }) => words[from]?.replace(/.*\//, "") === "rm" && words[from + 1] === "x",
    ),
  ).toBe(true);
});

/** Signs that mean something to a shell, around words that name no program. */
const fragment = fc.constantFrom(
  ..."zz a= é b 5 ; && | & \n ' \" \\ # $ * ? [ ] { } , .. ~ : = ( ) ! - + ^ @"
    .split(" ")
    .filter((part) => part !== "\n"),
  " ",
  " ",
  "\n",
  "\\\n",
  "\t",
  "\r",
  "zz ",
  " 2>&1 ",
  ">/dev/null",
  "<<'E'\n",
  "<<-'E' ",
  "<<",
  "\nE\n",
  "$(",
  "''",
);
const commandLine = fc.array(fragment, { minLength: 1, maxLength: 14 }).map((parts) => `zz${parts.join("")}`);

/** The words of every command that bash itself runs; every name is one that it does not find. */
function bashWords(command: string): string[] {
  const directory = mkdtempSync(join(tmpdir(), "rookery-words-"));
  try {
    // Each is called in a process of its own, side by side where a command says so.
    const handler = `printf '%s\\0' "$@" >"$OUT/$BASHPID"`;
    const prelude = `enable -n : [; trap wait EXIT; command_not_found_handle() { ${handler}; }\n`;
    const env = { PATH: "/nonexistent", LC_ALL: "C.UTF-8", OUT: directory };
    spawnSync("/bin/bash", ["-c", `${prelude}${command}`], { env, stdio: "ignore" });
    return readdirSync(directory)
      .map((name) => readFileSync(join(directory, name), "utf8").slice(0, -1))
      .filter((call) => call !== "")
      .toSorted();
  } finally {
    rmSync(directory, { recursive: true });
  }
}

test.skipIf(bashWords("zz").length === 0)("the words of a readable command are bash's own", () => {
  let readable = 0;
  fc.assert(
    fc.property(commandLine, (command) => {
      const { parts, unreadable } = readCommand(command);
      // A name with a slash is looked for on the disk, and what stands behind || is not run.
      fc.pre(
        unreadable === undefined && !command.includes("||") && !parts.some((part) => part.words[0]?.includes("/")),
      );
      readable++;
      const expected = parts.map((part) => part.words.join("\0")).filter((call) => call !== "");
      expect(bashWords(command)).toEqual(expected.toSorted());
    }),
    { numRuns: 80 },
  );
  expect(readable).toBe(80);
});

test.skipIf(bashWords("zz").length === 0)("what $'…' quotes is what bash makes of it", () => {
  const escapes = String.raw`\n \t \\ \' \" \? \e \x41 \x4z \101 \60 \u00e9 \U0001F600 \cA \q`;
  const [part] = readCommand(`zz $'${escapes}'`).parts;
  expect([part?.words.join("\0")]).toEqual(bashWords(`zz $'${escapes}'`));
});

test("any words, quoted, are read as themselves", () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.string({ unit: "binary" }).map((word) => word.replaceAll("\0", "")),
        { minLength: 1 },
      ),
      (list) => {
        const { parts, unreadable } = readCommand(shellWords(["zz", ...list]));
        expect([unreadable, parts]).toEqual([undefined, [{ assignments: [], words: ["zz", ...list] }]]);
      },
    ),
  );
});

test("no text makes the reader throw or loop", () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: "binary" }), commandLine), (text) => {
      readCommand(text);
      expect([...possibleCommands(text)].length).toBeLessThan(1000);
    }),
    { numRuns: 500 },
  );
});

test("two hundred kilobytes of nested signs are read in bounded time and depth", () => {
  for (const sign of ["$(", "(", "((a", "$((", "${", '"${', "$'", "`", '"$(', "env ", "{", "~", "<<'E'\n", "! "]) {
    expect(readCommand(sign.repeat(200_000 / sign.length)).unreadable).toBeDefined();
  }
});
