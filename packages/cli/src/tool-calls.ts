import {
  type ApproveFn,
  eventMessage,
  isType,
  modelMessage,
  type OmniMessage,
  type ToolCallOutputPayload,
  type ToolCallPayload,
  type ToolRunner,
} from "@rookery/core";
import { FAILED, stopExitCode } from "./exit-code.ts";
import type { OutputMode } from "./flags.ts";
import type { Interruption } from "./interruption.ts";
import type { Io } from "./io.ts";
import type { OutputStream } from "./output-stream.ts";
import { jsonLine } from "./render/json-line.ts";
import { neutralise, oneLine } from "./render/neutralise.ts";
import { canErase, ProgressLine } from "./render/progress-line.ts";
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

/**
 * Calls of one runner, each answered on standard output in the chosen form. As text at a terminal, the last line of what
 * a call prints is shown while it runs, on standard error.
 */
export class ToolCalls {
  readonly #runner: ToolRunner;
  readonly #options: ToolCallsOptions;
  readonly #progress: ProgressLine;

  constructor(runner: ToolRunner, options: ToolCallsOptions) {
    this.#runner = runner;
    this.#options = options;
    this.#progress = new ProgressLine(() => options.io.stderr.columns || 80);
  }

  /**
   * @param line - Where the call stands among others; absent for the only one.
   * @returns The exit code of this call.
   */
  async run(call: ToolCall, line?: number): Promise<number> {
    const { approve, interruption } = this.#options;
    let output: ToolCallOutputPayload | undefined;
    let isDenied = false;
    for await (const message of this.#runner.call(call.name, call.arguments, {
      approve,
      signal: interruption.signal,
    })) {
      if (isType(message, "tool_call_output") && message.origin === undefined) output = message.payload;
      if (isType(message, "approval_decision")) isDenied = message.payload.decision !== "allow";
      await this.#pass(message);
    }
    if (output !== undefined) await this.#answer(output, call.name, line);
    const exitCode = output === undefined || isDenied ? FAILED : stopExitCode(output.stop_reason);
    return exitCode === 0 ? 0 : (interruption.exitCode ?? exitCode);
  }

  /** Answers a line that holds no call as one that was denied. @param call - The line itself as its arguments. */
  async refuse(call: ToolCall, line: number, problem: string): Promise<number> {
    const reason = `line ${line} ${problem}`;
    const id = { tool_call_id: `line_${line}` };
    const output: ToolCallOutputPayload = {
      type: "tool_call_output",
      role: "user",
      output: reason,
      ...id,
      stop_reason: "failed",
    };
    const partial = { type: "partial_tool_call_output", role: "user", output: "", ...id } as const;
    const messages = [
      modelMessage({ type: "tool_call", role: "assistant", ...call, ...id }),
      eventMessage({ type: "approval_decision", ...id, decision: "deny", decided_by: "default", reason }),
      modelMessage({ ...partial, event_type: "start" }),
      modelMessage({ ...partial, event_type: "delta", output: reason }),
      modelMessage({ ...partial, event_type: "stop", stop_reason: "failed" }),
      modelMessage(output),
    ];
    for (const message of messages) await this.#pass(message);
    await this.#answer(output, call.name, line);
    return FAILED;
  }

  async #pass(message: OmniMessage): Promise<void> {
    const { output, io, stdout } = this.#options;
    if (output === "stream-json") await stdout.write(jsonLine(message));
    if (output === "text" && canErase(io.stderr, io.env)) io.stderr.write(this.#progress.show(message));
  }

  async #answer(
    { output, stop_reason = "completed", details }: ToolCallOutputPayload,
    name: string,
    line: number | undefined,
  ): Promise<void> {
    const { io, stdout, output: mode } = this.#options;
    if (mode === "json") await stdout.write(jsonLine({ output, stop_reason, details }));
    if (mode !== "text") return;
    io.stderr.write(this.#progress.erase());
    if (line !== undefined) await stdout.write(`${oneLine(`--- ${line} ${name}`)}: ${stop_reason}\n`);
    await stdout.write(neutralise(output.endsWith("\n") ? output : `${output}\n`));
    if (line !== undefined || stop_reason === "completed") return;
    await stdout.flush();
    notice(io, `the call ended: ${stop_reason}`);
  }
}
