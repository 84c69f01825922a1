import type { Command } from "commander";
import type { CommandContext } from "../command-line.ts";
import { defineConfigModel } from "./config-model.ts";
import { defineConfigPolicy } from "./config-policy.ts";
import { defineConfigRules } from "./config-rules.ts";

/** `rookery config`: what a project owns. */
export function defineConfig(program: Command, context: CommandContext): void {
  const config = program.command("config").description("Change the project's configuration.");
  defineConfigModel(config, context);
  defineConfigRules(config, context);
  defineConfigPolicy(config, context);
}
