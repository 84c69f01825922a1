import { resolve } from "node:path";
import { addAbortSignal, type Readable } from "node:stream";
import {
  type ApprovalMode,
  type ApproveFn,
  approver,
  isType,
  modelMessage,
  RookeryError,
  type ToolCallOutputPayload,
  type ToolRunner,
  toJsonLine,
} from "@rookery/core";
import { readJsonLines } from "@rookery/core/omnimessage";
import type { Command } from "commander";
import type { CommandContext } from "../command-line.ts";
import { FAILED, stopExitCode } from "../exit-code.ts";
import {
  type AgentFlags,
  APPROVAL_MODES,
  addAgentFlags,
  addOutputFlag,
  agentOptions,
  type OutputMode,
  oneOf,
} from "../flags.ts";
import { type Interruption, watchInterruption } from "../interruption.ts";
import { approvalPrompt } from "../prompt-approval.ts";
import { readInput } from "../read-input.ts";
import { neutralise, oneLine } from "../render/neutralise.ts";
import { notice, warningNotice } from "../report-error.ts";

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
      const argumentsJson = name === "-" ? undefined : await readArguments(json, context);
      context.exitCode = await withRunner(flags, context, (runner, interruption) => {
        const calls = new Calls(runner, flags, context, interruption);
        return argumentsJson === undefined ? callLines(calls, context, interruption) : calls.run(name, argumentsJson);
      });
    });
}

function addToolFlags(command: Command, modes: readonly OutputMode[]): Command {
  return addOutputFlag(addAgentFlags(command), modes).option("--workspace <DIR>", "where tools work (default: here)");
}

async function withRunner<T>(
  flags: ToolFlags,
  { io, stdout, openAgent }: CommandContext,
  use: (runner: ToolRunner, interruption: Interruption) => Promise<T>,
): Promise<T> {
  const interruption = watchInterruption(io, stdout);
  try {
    const agent = await openAgent({ ...agentOptions(flags), env: io.env, onWarning: warningNotice(io) });
    try {
      const runner = await agent.createToolRunner({ workspaceDir: resolve(io.cwd, flags.workspace ?? ".") });
      try {
        return await use(runner, interruption);
      } finally {
        await runner.dispose();
      }
    } finally {
      await agent.dispose();
    }
  } finally {
    interruption.stop();
  }
}

async function list(runner: ToolRunner, { output }: ToolFlags, { stdout }: CommandContext): Promise<void> {
  const tools = await runner.listTools();
  if (output === "json") {
    stdout.write(`${JSON.stringify(tools)}\n`);
    return;
  }
  const width = Math.max(0, ...tools.map(({ name }) => name.length));
  for (const { name, permission = "rw", description } of tools) {
    const [firstLine = ""] = description.trim().split("\n");
    stdout.write(`${neutralise(name).padEnd(width)}  ${permission.padEnd(2)}  ${oneLine(firstLine)}\n`);
  }
}

/** Checked here, since no model reads what the environment would say of it. */
async function readArguments(json: string | undefined, { io }: CommandContext): Promise<string> {
  const text = json === "-" ? await readInput("-", io) : (json ?? "{}");
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return text;
  } catch {
    // The error below says it for both.
  }
  const shown = text.length > 60 ? `${text.slice(0, 60)}…` : text;
  throw new RookeryError("usage", `the arguments are not a JSON object: ${JSON.stringify(shown)}`, {
    hint: `write them like '{"path": "a.txt"}'`,
  });
}

/** Answers each line in its order; a line that cannot be used is answered too, and the next one goes on. */
async function callLines(calls: Calls, { io }: CommandContext, interruption: Interruption): Promise<number> {
  let exitCode = 0;
  for await (const read of readJsonLines(bytesUntil(interruption.signal, io.stdin))) {
    const call = "problem" in read ? undefined : callOf(read.value);
    const code = call
      ? await calls.run(call.name, call.arguments, read.line)
      : calls.refuse(read.line, "problem" in read ? read.problem : 'is not { "name": STRING, "arguments": OBJECT }');
    exitCode ||= code === 0 ? 0 : FAILED;
  }
  return interruption.exitCode ?? exitCode;
}

/** Calls in one environment, with their answers written as they come. */
class Calls {
  readonly #runner: ToolRunner;
  readonly #output: OutputMode;
  readonly #context: CommandContext;
  readonly #interruption: Interruption;
  readonly #approve: ApproveFn;

  constructor(runner: ToolRunner, flags: ToolFlags, context: CommandContext, interruption: Interruption) {
    this.#runner = runner;
    this.#output = flags.output ?? "text";
    this.#context = context;
    this.#interruption = interruption;
    const person = approvalPrompt(context.io, context.stdout, interruption.signal);
    this.#approve = approver({ mode: flags.approve ?? "allow-all", ...(person && { ask: person.ask }) });
  }

  /** @returns The exit code of this call. */
  async run(name: string, argumentsJson: string, line?: number): Promise<number> {
    let output: ToolCallOutputPayload | undefined;
    const options = { approve: this.#approve, signal: this.#interruption.signal };
    for await (const message of this.#runner.call(name, argumentsJson, options)) {
      if (isType(message, "tool_call_output") && message.origin === undefined) output = message.payload;
      if (this.#output === "stream-json") await this.#context.stdout.write(toJsonLine(message));
    }
    if (output === undefined) return this.refuse(line ?? 1, "was left without an output");
    await this.#answer(output);
    const exitCode = stopExitCode(output.stop_reason);
    return exitCode === 0 ? 0 : (this.#interruption.exitCode ?? exitCode);
  }

  refuse(line: number, problem: string): number {
    const output = `line ${line} ${problem}`;
    const payload = { type: "tool_call_output", role: "user", output, stop_reason: "failed" } as const;
    const message = modelMessage({ ...payload, tool_call_id: `line_${line}` });
    if (this.#output === "stream-json") this.#context.stdout.write(toJsonLine(message));
    void this.#answer(message.payload);
    return FAILED;
  }

  async #answer({ output, stop_reason = "completed", details }: ToolCallOutputPayload): Promise<void> {
    const { io, stdout } = this.#context;
    if (this.#output === "json") await stdout.write(`${JSON.stringify({ output, stop_reason, details })}\n`);
    if (this.#output !== "text") return;
    await stdout.write(neutralise(output.endsWith("\n") ? output : `${output}\n`));
    if (stop_reason !== "completed") notice(io, `the call ended: ${stop_reason}`);
  }
}

function callOf(value: unknown): { name: string; arguments: string } | undefined {
  if (typeof value !== "object" || value === null || !("name" in value) || typeof value.name !== "string")
    return undefined;
  const args: unknown = "arguments" in value ? value.arguments : {};
  if (typeof args !== "object" || args === null || Array.isArray(args)) return undefined;
  return { name: value.name, arguments: JSON.stringify(args) };
}

/** Ends early when the signal fires, also while nothing comes. */
async function* bytesUntil(signal: AbortSignal, stream: Readable): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of addAbortSignal(signal, stream)) yield Buffer.from(chunk);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
