import { type PolicyRule, policyRules, readProjectConfig } from "@rookery/core";
import type { Command } from "commander";
import type { CommandContext } from "../command-line.ts";
import { addOutputFlag, addRootFlags } from "../flags.ts";
import { jsonLine } from "../render/json-line.ts";
import { oneLine } from "../render/neutralise.ts";
import { notice } from "../report-error.ts";
import { type ConfigFlags, configFile } from "./config-file.ts";

/** `rookery config policy`: the commands that nobody may run. */
export function defineConfigPolicy(config: Command, context: CommandContext): void {
  const policy = config.command("policy").description("The commands that nobody may run, whatever the mode.");
  const list = policy.command("list").description("List the rules in force: the project's, else the factory's nine.");
  addOutputFlag(addRootFlags(list), ["text", "json"]).action(async (flags: ConfigFlags) => {
    const { command_policy } = await readProjectConfig(configFile(flags, context));
    const rules = policyRules(command_policy);
    const { io, stdout } = context;
    if (flags.output === "json") stdout.write(jsonLine(rules));
    else if (rules.length === 0) notice(io, "no command is forbidden by policy");
    else stdout.write(rules.map(shown).join(""));
  });
}

function shown({ name, description, pattern }: PolicyRule): string {
  return `${oneLine(description === undefined ? name : `${name}: ${description}`)}\n    ${oneLine(pattern)}\n`;
}
