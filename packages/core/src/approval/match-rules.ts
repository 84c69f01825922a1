import { possibleCommands, readCommand } from "./command/read-command.ts";
import { isAssignment, programName, type Tail, unwrap } from "./command/unwrap.ts";
import type { ApprovalContext } from "./contract.ts";
import { insideWorkspace, isSamePlace, pathMatches } from "./path-match.ts";
import type { ApprovalRule, RuleTarget } from "./rule.ts";

/** What rules look at. */
export type RuledCall = Pick<ApprovalContext, "commandText" | "paths" | "workspace"> & { readonly tool: string };

/** The first rule that denies a call: by its tool, by a path, or by any command that its command line could run. */
export function denyingRule(rules: readonly ApprovalRule[], call: RuledCall): ApprovalRule | undefined {
  const inForce = rulesInForce(rules, "deny", call.workspace);
  const isRead = inForce.some(({ deny }) => deny?.command !== undefined);
  const commands = isRead && call.commandText !== undefined ? [...possibleCommands(call.commandText)] : [];
  return inForce.find(({ deny: { command, tool, path, access } = {} }) => {
    if (command !== undefined) {
      const words = ruleWords(command);
      return commands.some((tail) => beginsWith(tail, words, programName));
    }
    if (path === undefined) return tool === call.tool;
    return accesses(call).some((one) => isFor(access, one.access) && pathMatches(path, one.path, call.workspace));
  });
}

/**
 * The rules that together allow a call; absent where they do not.
 *
 * One with its tool's name is enough. Else every part of a readable command and every path has to be covered; to a
 * command the workspace is open. A wrapper word such as `env` does not cover the command that it runs.
 */
export function allowingRules(rules: readonly ApprovalRule[], call: RuledCall): readonly ApprovalRule[] | undefined {
  const inForce = rulesInForce(rules, "allow", call.workspace);
  const byTool = inForce.find(({ allow }) => allow?.tool === call.tool);
  if (byTool) return [byTool];
  const covers = [...commandCovers(inForce, call), ...pathCovers(inForce, call)];
  return covers.length > 0 && covers.every((rule) => rule !== undefined) ? [...new Set(covers)] : undefined;
}

function rulesInForce(rules: readonly ApprovalRule[], effect: "allow" | "deny", workspace: string): ApprovalRule[] {
  return rules.filter(
    (rule) => rule[effect] && (rule.workspace === undefined || isSamePlace(rule.workspace, workspace)),
  );
}

type Cover = ApprovalRule | undefined;

function commandCovers(rules: readonly ApprovalRule[], { commandText }: RuledCall): Cover[] {
  if (commandText === undefined) return [];
  const { parts, unreadable } = readCommand(commandText);
  if (unreadable !== undefined || parts.length === 0) return [undefined];
  const byWords = rules.flatMap((rule) => {
    const command = rule.allow?.command;
    return command === undefined ? [] : [{ rule, words: ruleWords(command) }];
  });
  return parts.map(({ assignments, words }) =>
    assignments.length > 0 ? undefined : commandCover(byWords, { words, from: 0 }),
  );
}

function commandCover(rules: readonly { rule: ApprovalRule; words: readonly string[] }[], tail: Tail): Cover {
  const inner = wrapped(tail);
  // Words that an option holds as a text stand in no rule.
  if (inner && inner.words !== tail.words) return undefined;
  for (const { rule, words } of rules) {
    if (!beginsWith(tail, words)) continue;
    const namesWhatRuns = inner === undefined || tail.from + words.length > inner.from;
    if (namesWhatRuns || inner.from >= inner.words.length) return rule;
    const cover = inner.isAssigned ? undefined : commandCover(rules, inner);
    if (cover) return cover;
  }
  return undefined;
}

/** What a wrapper word runs, its assignments passed over. */
function wrapped(tail: Tail): (Tail & { readonly isAssigned: boolean }) | undefined {
  const inner = unwrap(tail);
  if (inner === undefined) return undefined;
  let { from } = inner;
  while (isAssignment(inner.words[from] ?? "")) from++;
  return { words: inner.words, from, isAssigned: from > inner.from };
}

function pathCovers(rules: readonly ApprovalRule[], call: RuledCall): Cover[] {
  const isOpen = ({ path }: Access): boolean =>
    call.commandText !== undefined && insideWorkspace(path, call.workspace) !== undefined;
  return accesses(call)
    .filter((one) => !isOpen(one))
    .map((one) =>
      rules.find(
        ({ allow: { path, access } = {} }) =>
          path !== undefined && isFor(access, one.access) && pathMatches(path, one.path, call.workspace),
      ),
    );
}

interface Access {
  readonly path: string;
  readonly access: "read" | "write";
}

function accesses({ paths = {} }: RuledCall): Access[] {
  return (["read", "write"] as const).flatMap((access) => (paths[access] ?? []).map((path) => ({ path, access })));
}

function isFor(ruled: RuleTarget["access"], access: Access["access"]): boolean {
  return ruled === undefined || ruled === access;
}

function ruleWords(command: string): readonly string[] {
  return readCommand(command).parts[0]?.words ?? [];
}

/** @param program - What of the first word counts beside the word itself. */
function beginsWith(
  { words, from }: Tail,
  start: readonly string[],
  program: (word: string) => string = (word) => word,
): boolean {
  const isWord = (word: string, i: number): boolean =>
    words[from + i] === word || (i === 0 && program(words[from] ?? "") === word);
  return start.length > 0 && start.every(isWord);
}
