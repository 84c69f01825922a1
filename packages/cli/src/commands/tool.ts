import { resolve } from "node:path";
import { type Agent, type ApprovalMode, RookeryError, type ToolRunner } from "@rookery/core";
import type { Command } from "commander";
import type { CommandContext } from "../command-line.ts";
import {
  type AgentFlags,
  APPROVAL_MODES,
  addAgentFlags,
  addOutputFlag,
  addSandboxFlags,
  addToolsetFlag,
  type OutputMode,
  oneOf,
} from "../flags.ts";
import { type Interruption, watchInterruption } from "../interruption.ts";
import { projectApprover } from "../project-approver.ts";
import { approvalPrompt } from "../prompt-approval.ts";
import { callLines, readArguments } from "../read-tool-call.ts";
import { jsonLine } from "../render/json-line.ts";
import { neutralise, oneLine } from "../render/neutralise.ts";
import { ToolCalls } from "../tool-calls.ts";
import { withAgent } from "../with-agent.ts";

interface ToolFlags extends AgentFlags {
  readonly workspace?: string;
  readonly approve?: ApprovalMode;
  readonly output?: OutputMode;
}

/** `rookery tool`: the agent's tools through its real environment, without a model. */
export function defineTool(program: Command, context: CommandContext): void {
  const tool = program.command("tool").description("List the tools, or run one without a model.");
  addToolFlags(tool.command("list").description("List the tools."), ["text", "json"]).action(
    async (flags: ToolFlags) => {
      await withRunner(flags, context, (runner) => list(runner, flags, context));
    },
  );
  addToolFlags(tool.command("call"), ["text", "json", "stream-json"])
    .description("Run one tool, or, with - as its name, one { name, arguments } per line of standard input.")
    .argument("<NAME>", "the tool, or -")
    .argument("[JSON]", "its arguments; - reads them from standard input")
    .option("--approve <MODE>", `${APPROVAL_MODES.join(", ")} (default: allow-all)`, oneOf("--approve", APPROVAL_MODES))
    .action(async (name: string, json: string | undefined, flags: ToolFlags) => {
      if (name === "-" && json !== undefined) {
        throw new RookeryError("usage", `with - as its name the calls come from standard input, and ${json} is none`, {
          hint: `name the tool, or leave the arguments out`,
        });
      }
      const argumentsJson = name === "-" ? undefined : await readArguments(json, context.io);
      context.exitCode = await withRunner(flags, context, async (runner, interruption, agent) => {
        const { io, stdout } = context;
        const { approve: mode = "allow-all", output = "text" } = flags;
        // Standard input that holds the calls cannot hold answers.
        const person = argumentsJson === undefined ? undefined : approvalPrompt(io, stdout, interruption.signal);
        const approve = await projectApprover(agent, mode, person, io);
        const calls = new ToolCalls(runner, { approve, output, interruption, io, stdout });
        return argumentsJson === undefined
          ? callLines(calls, io, interruption)
          : calls.run({ name, arguments: argumentsJson });
      });
    });
}

function addToolFlags(command: Command, modes: readonly OutputMode[]): Command {
  return addOutputFlag(addAgentFlags(addSandboxFlags(addToolsetFlag(command))), modes).option(
    "--workspace <DIR>",
    "where tools work (default: here)",
  );
}

async function withRunner<T>(
  flags: ToolFlags,
  context: CommandContext,
  use: (runner: ToolRunner, interruption: Interruption, agent: Agent) => Promise<T>,
): Promise<T> {
  const { io, stdout } = context;
  const interruption = watchInterruption(io, stdout);
  try {
    return await withAgent(flags, context, async (agent) =>
      use(await agent.createToolRunner({ workspaceDir: resolve(io.cwd, flags.workspace ?? ".") }), interruption, agent),
    );
  } finally {
    interruption.stop();
  }
}

async function list(runner: ToolRunner, { output }: ToolFlags, { stdout }: CommandContext): Promise<void> {
  const tools = await runner.listTools();
  if (output === "json") {
    stdout.write(jsonLine(tools));
    return;
  }
  const width = Math.max(0, ...tools.map(({ name }) => name.length));
  for (const { name, permission = "rw", description } of tools) {
    const [firstLine = ""] = description.trim().split("\n");
    stdout.write(`${neutralise(name).padEnd(width)}  ${permission.padEnd(2)}  ${oneLine(firstLine)}\n`);
  }
}
