import type { Command } from "commander";
import type { CommandContext } from "../command-line.ts";
import { configurationFindings } from "../doctor/configuration.ts";
import type { Finding } from "../doctor/finding.ts";
import { display, machineFindings } from "../doctor/machine.ts";
import { FAILED } from "../exit-code.ts";
import { type AgentFlags, addAgentFlags, addOutputFlag, type OutputMode } from "../flags.ts";
import { jsonLine } from "../render/json-line.ts";
import { oneLine } from "../render/neutralise.ts";

/** `rookery doctor`: what works on this machine; looks at it and changes nothing, and uses no network. */
export function defineDoctor(program: Command, context: CommandContext): void {
  const command = program
    .command("doctor")
    .description("Look at what works on this machine, and say what to do where something does not.");
  addOutputFlag(addAgentFlags(command), ["text", "json"]).action(
    async (flags: AgentFlags & { readonly output?: OutputMode }) => {
      const { io, stdout } = context;
      const { findings: configured, user } = await configurationFindings(flags, io.env);
      const findings = [...(await machineFindings(io.env, user.sandbox)), ...configured, display(io)];
      stdout.write(flags.output === "json" ? jsonLine(findings) : table(findings));
      context.exitCode = findings.some(({ status }) => status === "fail") ? FAILED : 0;
    },
  );
}

function table(findings: readonly Finding[]): string {
  const width = Math.max(...findings.map(({ name }) => name.length));
  const lines = findings.map(({ name, status, found, todo }) => {
    const what = todo === undefined ? found : `${found}; ${todo}`;
    return `${status.padEnd(4)}  ${name.padEnd(width)}  ${oneLine(what)}\n`;
  });
  return lines.join("");
}
