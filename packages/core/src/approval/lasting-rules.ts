import { readCommand } from "./command/read-command.ts";
import { shellWords } from "./command/shell-words.ts";
import { programName, unwrap } from "./command/unwrap.ts";
import type { ApprovalContext } from "./contract.ts";
import { allowingRules, type RuledCall } from "./match-rules.ts";
import { exactGlob, insideWorkspace } from "./path-match.ts";
import type { ApprovalRule, RuleTarget } from "./rule.ts";

/**
 * The narrowest rules that allow this call from now on in its workspace: the whole words of its commands, its very paths,
 * or else the tool.
 *
 * @returns Absent where no rule can, and where one would allow far more than was shown: a call that cannot run, an
 *   unreadable command, one with a here-document, an interpreter with nothing but options, a wrapper word on its own.
 */
export function lastingRules(tool: string, context: ApprovalContext): readonly ApprovalRule[] | undefined {
  const { commandText, paths, workspace, error } = context;
  if (error !== undefined) return undefined;
  const call: RuledCall = { tool, ...context };
  const targets: RuleTarget[] = commandText === undefined ? [] : commandTargets(commandText);
  for (const access of ["read", "write"] as const) {
    for (const path of paths?.[access] ?? []) {
      const inside = insideWorkspace(path, workspace);
      if (commandText !== undefined && inside !== undefined) continue;
      const glob = exactGlob(inside ?? path);
      if (glob === undefined) return undefined;
      targets.push({ path: glob, access });
    }
  }
  if (targets.length === 0 && commandText === undefined) targets.push({ tool });
  const rules = targets.map((allow) => ({ allow, workspace }));
  return allowingRules(rules, call) && rules;
}

const INTERPRETERS = /^(?:(?:ba|da|z|k|fi|a)?sh|(?:python|perl|ruby|php|lua|node|deno|bun|awk|gawk|mawk|tclsh)[\d.]*)$/;

function commandTargets(commandText: string): RuleTarget[] {
  const { parts, unreadable } = readCommand(commandText);
  if (unreadable !== undefined || commandText.includes("<<")) return [];
  if (parts.some(({ words }) => isOpenEnded(words))) return [];
  return [...new Set(parts.map(({ words }) => shellWords(words)))].map((command) => ({ command }));
}

/** True for words that say nothing of what they run. */
function isOpenEnded(words: readonly string[]): boolean {
  const inner = unwrap({ words, from: 0 });
  if (inner !== undefined) return isOpenEnded(inner.words.slice(inner.from));
  const [program, ...rest] = words;
  return program === undefined || (INTERPRETERS.test(programName(program)) && rest.every((word) => /^-/.test(word)));
}
