import { isDeepStrictEqual } from "node:util";
import { type ApprovalRule, ruleProblem, ruleText } from "../approval/rule.ts";
import { RookeryError } from "../errors/rookery-error.ts";
import { editProjectConfig } from "./edit-project-config.ts";

/**
 * Stores rules, each once, behind those that are there.
 *
 * @throws {RookeryError} `usage` for one that says nothing, `config-invalid`, `root-unwritable`.
 */
export async function addRules(file: string, added: readonly ApprovalRule[]): Promise<void> {
  for (const rule of added) assertRule(rule);
  await editProjectConfig(file, ({ rules = [] }, { document }) => {
    const known = [...rules];
    for (const rule of added) {
      if (known.some((one) => isDeepStrictEqual(one, rule))) continue;
      if (known.length > 0) document.addIn(["rules"], document.createNode(rule));
      else document.setIn(["rules"], document.createNode([rule]));
      known.push(rule);
    }
  });
}

/** Takes a rule out, each time it is there. @throws {RookeryError} `usage` when it is not stored. */
export async function removeRule(file: string, removed: ApprovalRule): Promise<void> {
  await editProjectConfig(file, ({ rules = [] }, { document }) => {
    const places = [...rules.keys()].filter((i) => isDeepStrictEqual(rules[i], removed));
    if (places.length === 0) {
      throw new RookeryError("usage", `the project has no rule ${ruleText(removed)}`, {
        hint: "rookery config rules list shows what is stored",
      });
    }
    for (const i of places.toReversed()) document.deleteIn(["rules", i]);
  });
}

function assertRule(rule: ApprovalRule): void {
  const problem = ruleProblem(rule);
  if (problem === undefined) return;
  throw new RookeryError("usage", `the rule ${problem}`, { hint: "see docs/configuration.md for what a rule can say" });
}
