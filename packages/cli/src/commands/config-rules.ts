import { resolve } from "node:path";
import {
  type ApprovalRule,
  addRules,
  checkCommand,
  RookeryError,
  readProjectConfig,
  removeRule,
  ruleText,
} from "@rookery/core";
import type { Command } from "commander";
import type { CommandContext } from "../command-line.ts";
import { addOutputFlag, addRootFlags, oneOf } from "../flags.ts";
import { jsonLine } from "../render/json-line.ts";
import { oneLine } from "../render/neutralise.ts";
import { notice } from "../report-error.ts";
import { type ConfigFlags, configFile } from "./config-file.ts";

interface RuleFlags extends ConfigFlags {
  readonly access?: "read" | "write";
  readonly workspace?: string;
}

/** `rookery config rules`: what is allowed and denied without a question. */
export function defineConfigRules(config: Command, context: CommandContext): void {
  const { io, stdout } = context;
  const rules = config.command("rules").description("What is allowed or denied without a question.");
  const add = (name: string, description: string): Command =>
    addOutputFlag(addRootFlags(rules.command(name).description(description)), ["text", "json"]);
  add("list", "List the rules, each as it was added.").action(async (flags: ConfigFlags) => {
    const { rules: stored = [] } = await readProjectConfig(configFile(flags, context));
    if (flags.output === "json") stdout.write(jsonLine(stored));
    else if (stored.length === 0) notice(io, "no rules are stored; store one with rookery config rules add");
    else for (const rule of stored) stdout.write(`${oneLine(ruleText(rule))}\n`);
  });
  const change = (
    name: string,
    description: string,
    done: string,
    apply: (file: string, rule: ApprovalRule) => Promise<void>,
  ): void => {
    add(name, description)
      .argument("<EFFECT>", "allow or deny", oneOf("EFFECT", ["allow", "deny"]))
      .argument("<KIND>", "command, tool or path", oneOf("KIND", ["command", "tool", "path"]))
      .argument("<VALUE>", "the words a command begins with, a tool's name, a glob or outside-workspace")
      .option("--access <ACCESS>", "of a path: read or write (default: both)", oneOf("--access", ["read", "write"]))
      .option("--workspace <DIR>", "only in this workspace (default: in all)")
      .action(async (effect: "allow" | "deny", kind: string, value: string, flags: RuleFlags) => {
        const rule = ruleOf(effect, kind, value, flags, io.cwd);
        await apply(configFile(flags, context), rule);
        stdout.write(flags.output === "json" ? jsonLine({ [done]: rule }) : `${done} ${oneLine(ruleText(rule))}\n`);
      });
  };
  change("add", "Store a rule.", "stored", (file, rule) => addRules(file, [rule]));
  change("remove", "Take a rule out, named as it was added.", "removed", removeRule);
  add("check", "Say what becomes of a command: allow (exit 0), deny (1), or ask (3), which is left to --approve.")
    .argument("<COMMAND>", "as a tool would be given it; nothing is run")
    .option("--workspace <DIR>", "where it would run (default: here)")
    .option("--tool <NAME>", "the tool that would run it; without it only rules about commands count")
    .action(async (command: string, flags: RuleFlags & { readonly tool?: string }) => {
      const { command_policy: policy, rules: stored = [] } = await readProjectConfig(configFile(flags, context));
      const workspace = resolve(io.cwd, flags.workspace ?? ".");
      const restrictions = { rules: stored, ...(policy && { policy }) };
      const verdict = checkCommand(restrictions, command, {
        workspace,
        ...(flags.tool !== undefined && { tool: flags.tool }),
      });
      const { decision, decidedBy, reason } = verdict;
      context.exitCode = CHECK_EXIT_CODES[decision];
      if (flags.output === "json") stdout.write(jsonLine({ decision, decided_by: decidedBy, reason }));
      else stdout.write(`${decision}: ${oneLine(decidedBy === undefined ? reason : `${decidedBy}: ${reason}`)}\n`);
    });
}

const CHECK_EXIT_CODES = { allow: 0, deny: 1, ask: 3 } as const;

function ruleOf(
  effect: "allow" | "deny",
  kind: string,
  value: string,
  { access, workspace }: RuleFlags,
  cwd: string,
): ApprovalRule {
  if (access !== undefined && kind !== "path") {
    throw new RookeryError("usage", `--access goes with a path, not with a ${kind}`, { hint: "leave it out" });
  }
  const target = { [kind]: value, ...(access && { access }) };
  return { [effect]: target, ...(workspace !== undefined && { workspace: resolve(cwd, workspace) }) };
}
