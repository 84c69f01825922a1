import fc from "fast-check";
import { expect, test } from "vitest";
import { checkCommand } from "./check-command.ts";
import { readCommand } from "./command/read-command.ts";
import { shellWords } from "./command/shell-words.ts";
import { allowingRules, denyingRule } from "./match-rules.ts";
import type { ApprovalRule } from "./rule.ts";

const workspace = "/srv/app";
const allow = (...commands: string[]): ApprovalRule[] => commands.map((command) => ({ allow: { command } }));
const deny = (...commands: string[]): ApprovalRule[] => commands.map((command) => ({ deny: { command } }));

function decision(rules: readonly ApprovalRule[], command: string): string {
  return checkCommand({ rules, policy: { rules: [] } }, command, { workspace, tool: "exec_command" }).decision;
}

const CHAINED: [command: string, decision: string][] = [
  ["git log -1", "allow"],
  ["git status && echo done", "allow"],
  ["git log; git status", "allow"],
  ["git log | cat", "ask"],
  ["git log; touch pwned", "ask"],
  ["git log && touch pwned", "ask"],
  ["git log || touch pwned", "ask"],
  ["git log & touch pwned", "ask"],
  ["git log | sh", "ask"],
  ["git log |& sh", "ask"],
  ["git log\ntouch pwned", "ask"],
  ["git log \\\n -1", "allow"],
  ["git log > pwned", "ask"],
  ["git log >> ~/.bashrc", "ask"],
  ["git log 2>&1 >/dev/null", "allow"],
  ["git loggy", "ask"],
  ["git", "ask"],
  ["git -c core.pager=x log", "ask"],
  ['"git" log', "allow"],
  ['"git log"', "ask"],
  ['echo "a && b; c"', "allow"],
  ["echo 'x' # ; rm y", "allow"],
  ["echo 'x'#; rm y", "ask"],
  ["# echo", "ask"],
  ["", "ask"],
  ["echo &&& echo", "ask"],
  ["echo 'x", "ask"],
];

test.each(CHAINED)("with git log, git status and echo allowed, %j is answered %s", (command, expected) => {
  expect(decision(allow("git log", "git status", "echo"), command)).toBe(expected);
});

test.each([
  ['git status "$(touch pwned)"', "ask"],
  ["echo `touch pwned`", "ask"],
  ["cat <(touch pwned)", "ask"],
  [`echo "\${x:-$(touch pwned)}"`, "ask"],
  ["echo $((a[$(touch pwned)]))", "ask"],
  ["echo '$(not run)'", "allow"],
  ['echo "\\$(not run)"', "allow"],
  ["cat <<EOF\n$(touch pwned)\nEOF", "ask"],
  ["cat <<'EOF'\n$(not run)\nEOF", "allow"],
  ["cat <<'EOF'\nx\nEOF\ntouch pwned", "ask"],
])("commands inside substitutions count: %j is answered %s", (command, expected) => {
  expect(decision(allow("git status", "echo", "cat"), command)).toBe(expected);
});

test.each([
  ["rm -r x", "deny"],
  ["FOO=1 rm -r x", "deny"],
  ["env A=b rm -r x", "deny"],
  ["env -u A -C / rm -r x", "deny"],
  ["nohup rm -r x", "deny"],
  ["timeout 5 rm -r x", "deny"],
  ["timeout -s KILL 5 nice -n 3 rm -r x", "deny"],
  ["command rm -r x", "deny"],
  ["/bin/rm -r x", "deny"],
  ["/usr/bin/env /bin/rm -r x", "deny"],
  ["\\rm -r x", "deny"],
  ["r''m -r x", "deny"],
  ["sudo rm -r x", "deny"],
  ["sudo -u root A=b rm -r x", "deny"],
  ['bash -c "rm -r x"', "deny"],
  ["echo x | xargs rm", "deny"],
  ["npm test && rm -r x", "deny"],
  ["npm test $(rm -r x)", "deny"],
  ["if true; then rm -r x; fi", "deny"],
  ["rmdir x", "ask"],
  ["npm test rm", "allow"],
  ["LD_PRELOAD=./e.so npm test", "ask"],
  ["PATH=.; npm test", "ask"],
  ["env LD_PRELOAD=./e.so npm test", "ask"],
  ["env -S 'npm test'", "ask"],
  ["timeout 5 touch pwned", "ask"],
  ["env touch pwned", "ask"],
  ["timeout 5 npm test", "allow"],
  ["nohup env npm test", "allow"],
  ["env", "allow"],
  ["npm test", "allow"],
  ["./npm test", "ask"],
])(
  "prefixes and wrappers neither dodge a deny rule nor ride on an allow rule: %j is answered %s",
  (command, expected) => {
    const rules = [...deny("rm"), ...allow("npm test", "env", "nohup", "timeout")];
    expect(decision(rules, command)).toBe(expected);
  },
);

test("a rule that names a wrapper and what it runs covers both", () => {
  expect(decision(allow("timeout 5 make"), "timeout 5 make all")).toBe("allow");
  expect(decision(allow("env A=b make"), "env A=b make all")).toBe("allow");
  expect(decision(deny("sudo"), "A=b sudo ls")).toBe("deny");
});

test("no program is known to be harmless: without a rule each command is asked about", () => {
  for (const command of [
    "git diff",
    "git diff --output=pwned",
    "sort -o pwned a.txt",
    "find . -name a",
    "find . -delete",
    "sed -n '1w pwned' a.txt",
    "ls | xargs rm",
    "tail -f a.txt",
  ]) {
    expect(decision([], command)).toBe("ask");
  }
});

test("an unreadable command is asked about and says why", () => {
  expect(checkCommand({ rules: allow("echo") }, "echo $x", { workspace, tool: "exec_command" })).toEqual({
    decision: "ask",
    reason: "no rule can allow it: it holds a substitution",
  });
});

test("a tool's own rule decides on its commands too", () => {
  expect(decision([{ allow: { tool: "exec_command" } }], "anything $(at all)")).toBe("allow");
  expect(decision([...allow("ls"), { deny: { tool: "exec_command" } }], "ls")).toBe("deny");
});

test("a rule with a workspace holds only there", () => {
  const here: ApprovalRule[] = [{ allow: { command: "ls" }, workspace }];
  expect(decision(here, "ls")).toBe("allow");
  expect(decision([{ ...here[0], workspace: "/srv" }], "ls")).toBe("ask");
  expect(decision([{ deny: { command: "ls" }, workspace: "/srv/app/sub" }], "ls")).toBe("ask");
});

const word = fc.string({ minLength: 1, maxLength: 6 }).map((text) => text.replaceAll("\0", "x"));

test("quoting and chaining never let a denied program through", () => {
  const spelled = fc.constantFrom("rm", "'rm'", '"rm"', "r\\m", "r''m", "\\r\\m", "/bin/rm", "r\\\nm");
  const before = fc.constantFrom(
    "",
    "A=1 ",
    "env ",
    "env -i A=b ",
    "nohup ",
    "timeout 5 ",
    "sudo -n ",
    "xargs -0 ",
    "! ",
  );
  const joint = fc.constantFrom(";", "&&", "||", "|", "&", "\n", "; (", "; {", " $(", " `", ' "$(');
  fc.assert(
    fc.property(fc.array(word), joint, fc.array(before, { maxLength: 3 }), spelled, (first, sign, prefixes, rm) => {
      const command = `${shellWords(["echo", ...first])}${sign} ${prefixes.join("")}${rm} x`;
      expect(denyingRule(deny("rm"), { tool: "t", workspace, commandText: command })).toBeDefined();
    }),
  );
});

test("no rule allows an unreadable command, nor a readable one with a word that no rule begins", () => {
  const sign = fc.constantFrom(..."echo;&|<>()$`'\"\\#{}*~ \n!=".split(""), "echo ", "zz");
  const rules = allow("echo");
  fc.assert(
    fc.property(fc.array(sign, { maxLength: 12 }), (signs) => {
      const commandText = `echo ${signs.join("")}`;
      const { parts, unreadable } = readCommand(commandText);
      const isAllowed = allowingRules(rules, { tool: "t", workspace, commandText }) !== undefined;
      const isCovered = parts.every(({ assignments, words }) => assignments.length === 0 && words[0] === "echo");
      expect(isAllowed).toBe(unreadable === undefined && isCovered);
    }),
    { numRuns: 1000 },
  );
});
