import { resolve } from "node:path";
import { type ApprovalMode, modelPair, parseModelName, RookeryError, type SandboxSettings } from "@rookery/core";
import type { Command } from "commander";

/** The flags of every command that works on an agent. */
export interface AgentFlags {
  readonly root?: string;
  readonly project?: string;
  readonly agent?: string;
  /** Where tools are run. */
  readonly toolset?: string;
  readonly sandbox?: SandboxSettings["mode"];
  readonly sandboxNetwork?: SandboxSettings["network"];
  /** Where a model is called: the file that gets its requests and answers. */
  readonly debug?: string;
}

/** How a command answers. */
export type OutputMode = "text" | "json" | "stream-json";

/** In the order of how much they let through. */
export const APPROVAL_MODES: readonly ApprovalMode[] = ["allow-all", "read-only", "always-ask", "deny-all"];

export function addRootFlags(command: Command): Command {
  return command
    .option("--root <DIR>", "where everything is kept (default: ROOKERY_HOME, else ~/.rookery)")
    .option("--project <ID>", "the project (default: default_project)");
}

export function addAgentFlags(command: Command): Command {
  return addRootFlags(command).option("--agent <ID>", "the agent (default: default_agent)");
}

export function addToolsetFlag(command: Command): Command {
  return command.option(
    "--toolset <NAME>",
    "the built-in tools: standard, strict or minimal (default: the agent's, else standard)",
  );
}

export function addSandboxFlags(command: Command): Command {
  return command
    .option(
      "--sandbox <MODE>",
      `${SANDBOX_MODES.join(", ")} (default: config.yaml's, else off)`,
      oneOf("--sandbox", SANDBOX_MODES),
    )
    .option(
      "--sandbox-network <ON|OFF>",
      "the network in a sandbox (default: off)",
      oneOf("--sandbox-network", ["on", "off"]),
    );
}

const SANDBOX_MODES = ["off", "read-only", "workspace-write"] as const;

export function addOutputFlag(command: Command, modes: readonly OutputMode[]): Command {
  return command.option("--output <FORM>", `${modes.join(", ")} (default: text)`, oneOf("--output", modes));
}

export function addDebugFlag(command: Command): Command {
  return command.option(
    "--debug <FILE>",
    "adds what is sent to the model's server and what comes back, without keys, to a file",
  );
}

/** The file that `--debug` names. */
export function debugFileOf({ debug }: Pick<AgentFlags, "debug">, cwd: string): string | undefined {
  return debug === undefined ? undefined : resolve(cwd, debug);
}

/** The agent's options that were given. */
export function agentOptions({ root, project, agent, toolset, sandbox, sandboxNetwork }: AgentFlags): {
  root?: string;
  projectId?: string;
  agentId?: string;
  toolset?: string;
  sandbox?: Partial<SandboxSettings>;
} {
  const sandboxed = { ...(sandbox && { mode: sandbox }), ...(sandboxNetwork && { network: sandboxNetwork }) };
  return {
    ...(root !== undefined && { root }),
    ...(project !== undefined && { projectId: project }),
    ...(agent !== undefined && { agentId: agent }),
    ...(toolset !== undefined && { toolset }),
    ...((sandbox ?? sandboxNetwork) && { sandbox: sandboxed }),
  };
}

/** `--model`, or `--provider` with `--model-id`, as the pair it names; absent without any. */
export function modelFlags(flags: {
  model?: string;
  provider?: string;
  modelId?: string;
}): ReturnType<typeof modelPair> {
  const { model, provider, modelId } = flags;
  if (model === undefined) return modelPair(flags);
  if (provider !== undefined || modelId !== undefined) {
    throw new RookeryError("usage", "--model came together with --provider or --model-id", { hint: "use one form" });
  }
  const name = parseModelName(model, "--model");
  return { provider: name.provider, modelId: name.model_id };
}

/** Reads a flag that takes one of a few words. */
export function oneOf<const T extends string>(flag: string, words: readonly T[]): (value: string) => T {
  return (value) => {
    const word = words.find((candidate) => candidate === value);
    if (word !== undefined) return word;
    throw new RookeryError("usage", `${flag} does not know ${JSON.stringify(value)}`, {
      hint: `use one of ${words.join(", ")}`,
    });
  };
}

/** Reads a flag of which a second one would replace the first unseen. */
export function onlyOnce(flag: string): (value: string, previous: string | undefined) => string {
  return (value, previous) => {
    if (previous === undefined) return value;
    throw new RookeryError("usage", `${flag} was given more than once`, { hint: "give one" });
  };
}

/** Reads a flag that takes a number in a range. */
export function numberIn(
  flag: string,
  what: string,
  range: { integer: boolean; max: number },
): (value: string) => number {
  return (value) => {
    const number = readDecimal(value);
    if (number > 0 && number <= range.max && (!range.integer || Number.isInteger(number))) return number;
    throw new RookeryError("usage", `${flag} must be ${what}, got ${JSON.stringify(value)}`, {
      hint: `give a number above 0 and up to ${range.max}`,
    });
  };
}

/** A number in plain digits, `.5` and `5.` too; anything else is NaN. */
export function readDecimal(text: string): number {
  return /^(\d+\.?\d*|\.\d+)$/.test(text) ? Number(text) : Number.NaN;
}
