import { errorText } from "../errors/error-text.ts";
import { modelMessage } from "../omnimessage/build.ts";
import type { OmniMessage, PartialToolCallOutputPayload, StopReason } from "../omnimessage/message.ts";
import { isRecord } from "../omnimessage/shape.ts";
import type { CallLimits } from "./call-limits.ts";
import type { OnWarning } from "./contract.ts";
import { modelVisiblePath } from "./model-visible-path.ts";
import { archiveOutput } from "./output-archive.ts";
import { OutputCapture } from "./output-capture.ts";
import { OutputWindow } from "./output-window.ts";
import { shorten } from "./shorten.ts";
import { readReport } from "./tool-report.ts";
import { type ToolEnding, ToolRun } from "./tool-run.ts";
import { readYield } from "./tool-yield.ts";
import { usableImages } from "./usable-images.ts";

/** One execution of a tool and what it must keep to. */
export interface Execution {
  readonly toolName: string;
  readonly toolCallId: string;
  /** Begins it under the merged signal. */
  readonly start: (signal: AbortSignal) => AsyncIterator<unknown, unknown>;
  readonly limits: CallLimits;
  /** The caller's. */
  readonly signal?: AbortSignal | undefined;
  /** Absent: output that was cut is not saved. */
  readonly scratchpadDir?: string | undefined;
  readonly onWarning: OnWarning;
  /** How long a tool may go on after its signal has fired; default 5000. */
  readonly graceMs?: number;
}

const DEFAULT_GRACE_MS = 5_000;
const MAX_ERROR_CHARS = 2_000;

/**
 * Runs a tool and makes one legal output of whatever it does: `start`, deltas, `stop` and the complete message, all with
 * the id of the call (PT-027 to PT-036).
 *
 * Joined deltas equal the complete output: the text that fits, the marker of a cut, the archive note, the tool's note,
 * images that were left out, and what stopped it, each on a line of its own. Images are one delta before the stop, of a
 * completed call only. The `stop_reason` is decided by, in this order, the caller's signal, the time-out, a throw, the
 * tool itself, and is fixed before anything is archived. A tool is not begun when the signal has fired already. Never
 * throws; whoever breaks out of the iteration aborts the tool.
 */
export async function* closeOut(execution: Execution): AsyncGenerator<OmniMessage> {
  const output = new CallOutput(execution);
  yield output.fragment("start", "");
  const ending = yield* stream(execution, output);
  yield* output.close(ending);
}

/** Passes on what the tool yields until it ends. */
async function* stream(execution: Execution, output: CallOutput): AsyncGenerator<OmniMessage, ToolEnding> {
  const { start, signal, limits, graceMs = DEFAULT_GRACE_MS } = execution;
  if (signal?.aborted) return { kind: "returned", stopped: "aborted", result: undefined };
  const run = new ToolRun(start, { signal, timeoutMs: limits.timeoutMs, graceMs });
  try {
    for (;;) {
      const step = await run.next();
      if ("ending" in step) return step.ending;
      const message = output.take(step.value);
      if (message !== undefined) yield message;
    }
  } finally {
    run.dispose();
  }
}

/** The output of one call while it comes to be. */
class CallOutput {
  readonly #execution: Execution;
  readonly #window: OutputWindow;
  readonly #capture: OutputCapture | undefined;
  readonly #images: string[] = [];
  #shown = "";
  #wholeResult: Record<string, unknown> = {};

  constructor(execution: Execution) {
    this.#execution = execution;
    this.#window = new OutputWindow(execution.limits.maxOutputChars, execution.limits.truncation);
    this.#capture = execution.scratchpadDir === undefined ? undefined : new OutputCapture();
  }

  fragment(
    eventType: PartialToolCallOutputPayload["event_type"],
    output: string,
    rest: Pick<PartialToolCallOutputPayload, "images" | "stop_reason"> = {},
  ): OmniMessage {
    const { toolCallId } = this.#execution;
    return modelMessage({
      type: "partial_tool_call_output",
      role: "user",
      event_type: eventType,
      output,
      tool_call_id: toolCallId,
      ...rest,
    });
  }

  /** What a reader gets to see at once of something the tool yielded. */
  take(value: unknown): OmniMessage | undefined {
    const received = readYield(value, this.#execution.toolCallId);
    if (received === undefined) return undefined;
    if (received.kind === "message") return received.message;
    if (received.kind === "output") this.#images.push(...received.images);
    if (received.kind === "whole") this.#wholeResult = received.result;
    // A complete message repeats what was streamed before it; without that it is the output.
    if (received.kind === "whole" && this.#window.receivedChars > 0) return undefined;
    let shown = "";
    for (const piece of received.pieces) {
      this.#capture?.push(piece);
      shown += this.#window.push(piece);
    }
    return this.#show(shown);
  }

  /** Everything from the last delta to the complete message. */
  async *close(ending: ToolEnding): AsyncGenerator<OmniMessage> {
    const returned = ending.kind === "returned" && isRecord(ending.result) ? ending.result : {};
    const report = readReport({ ...this.#wholeResult, ...returned });
    const stopReason: StopReason = ending.stopped ?? (ending.kind === "threw" ? "failed" : report.stopReason);
    const { images, leftOut } = usableImages(stopReason === "completed" ? [...this.#images, ...report.images] : []);

    const rest = this.#window.end();
    const wasCut = rest.omittedChars > 0;
    const deltas = wasCut
      ? [
          this.#showLine(`[... ${rest.omittedChars} characters omitted ...]`),
          this.#showLine(rest.text),
          this.#showLine(await this.#archive()),
        ]
      : [this.#show(rest.text)];
    for (const line of [report.note, ...leftOut, this.#endLine(ending)]) deltas.push(this.#showLine(line));
    if (this.#shown === "") deltas.push(this.#show(images.length > 0 ? imagesLine(images.length) : "[no output]"));
    for (const delta of deltas) if (delta !== undefined) yield delta;

    const withImages = images.length > 0 && { images };
    if (withImages) yield this.fragment("delta", "", withImages);
    yield this.fragment("stop", "", { stop_reason: stopReason });
    yield modelMessage({
      type: "tool_call_output",
      role: "user",
      output: this.#shown,
      tool_call_id: this.#execution.toolCallId,
      ...withImages,
      stop_reason: stopReason,
      ...report.extras,
    });
  }

  #show(text: string): OmniMessage | undefined {
    if (text === "") return undefined;
    this.#shown += text;
    return this.fragment("delta", text);
  }

  #showLine(text: string): OmniMessage | undefined {
    const startsALine = this.#shown === "" || this.#shown.endsWith("\n");
    return this.#show(text === "" || startsALine ? text : `\n${text}`);
  }

  /** Saves the whole text and says where (PT-039); empty where nothing is to be saved. */
  async #archive(): Promise<string> {
    const { scratchpadDir, toolName, toolCallId, onWarning } = this.#execution;
    if (this.#capture === undefined || scratchpadDir === undefined) return "";
    const outcome = await archiveOutput(this.#capture, { scratchpadDir, toolName, toolCallId });
    const cut = `output truncated: ${this.#window.receivedChars} characters in all`;
    if ("path" in outcome) {
      const what = outcome.complete ? "full text" : "its beginning and its end";
      return `[${cut}; ${what} saved to ${modelVisiblePath(outcome.path)}]`;
    }
    onWarning({
      code: "archive-failed",
      message: `the full output of ${toolName} was not saved: ${outcome.errorCode}`,
    });
    return `[${cut}; the full text could not be saved: ${outcome.errorCode}]`;
  }

  /** What stopped the tool from outside, or its own throw; empty when it ended by itself. */
  #endLine(ending: ToolEnding): string {
    const { toolName, limits, graceMs = DEFAULT_GRACE_MS } = this.#execution;
    if (ending.stopped === undefined) {
      return ending.kind === "threw"
        ? `[${toolName} failed: ${shorten(errorText(ending.error), MAX_ERROR_CHARS)}]`
        : "";
    }
    const what = ending.stopped === "timeout" ? `timed out after ${(limits.timeoutMs ?? 0) / 1000} s` : "interrupted";
    const leftBehind = `; it did not stop within ${graceMs / 1000} s, its effect is unknown`;
    return `[${what}${ending.kind === "abandoned" ? leftBehind : ""}]`;
  }
}

function imagesLine(count: number): string {
  return count === 1 ? "[1 image]" : `[${count} images]`;
}
