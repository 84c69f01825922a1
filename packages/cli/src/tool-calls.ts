import {
  type ApproveFn,
  isType,
  modelMessage,
  type OmniMessage,
  type ToolCallOutputPayload,
  type ToolCallPayload,
  type ToolRunner,
  toJsonLine,
} from "@rookery/core";
import { FAILED, stopExitCode } from "./exit-code.ts";
import type { OutputMode } from "./flags.ts";
import type { Interruption } from "./interruption.ts";
import type { Io } from "./io.ts";
import type { OutputStream } from "./output-stream.ts";
import { neutralise } from "./render/neutralise.ts";
import { notice } from "./report-error.ts";

/** A call as somebody writes it down; the arguments are a JSON object. */
export type ToolCall = Pick<ToolCallPayload, "name" | "arguments">;

interface ToolCallsOptions {
  readonly approve: ApproveFn;
  readonly output: OutputMode;
  readonly interruption: Interruption;
  readonly io: Io;
  readonly stdout: OutputStream;
}

/** Calls of one runner, each answered on standard output in the chosen form. */
export class ToolCalls {
  readonly #runner: ToolRunner;
  readonly #options: ToolCallsOptions;

  constructor(runner: ToolRunner, options: ToolCallsOptions) {
    this.#runner = runner;
    this.#options = options;
  }

  /** @returns The exit code of this call. */
  async run(call: ToolCall): Promise<number> {
    const { approve, interruption } = this.#options;
    let output: ToolCallOutputPayload | undefined;
    for await (const message of this.#runner.call(call.name, call.arguments, {
      approve,
      signal: interruption.signal,
    })) {
      if (isType(message, "tool_call_output") && message.origin === undefined) output = message.payload;
      await this.#pass(message);
    }
    if (output !== undefined) await this.#answer(output);
    const exitCode = output === undefined ? FAILED : stopExitCode(output.stop_reason);
    return exitCode === 0 ? 0 : (interruption.exitCode ?? exitCode);
  }

  /** Answers a line that holds no call. */
  async refuse(line: number, problem: string): Promise<number> {
    const message = modelMessage({
      type: "tool_call_output",
      role: "user",
      output: `line ${line} ${problem}`,
      tool_call_id: `line_${line}`,
      stop_reason: "failed",
    });
    await this.#pass(message);
    await this.#answer(message.payload);
    return FAILED;
  }

  async #pass(message: OmniMessage): Promise<void> {
    if (this.#options.output === "stream-json") await this.#options.stdout.write(toJsonLine(message));
  }

  async #answer({ output, stop_reason = "completed", details }: ToolCallOutputPayload): Promise<void> {
    const { io, stdout, output: mode } = this.#options;
    if (mode === "json") await stdout.write(`${JSON.stringify({ output, stop_reason, details })}\n`);
    if (mode !== "text") return;
    await stdout.write(neutralise(output.endsWith("\n") ? output : `${output}\n`));
    if (stop_reason !== "completed") notice(io, `the call ended: ${stop_reason}`);
  }
}
