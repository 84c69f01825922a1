import { diffHunks, formatHunk } from "../../environment/files/unified-diff.ts";
import type { StopReason, ToolCallOutputPayload } from "../../omnimessage/message.ts";
import type { RecordedCall } from "./recording.ts";

/** What the model was given back for a call. */
export interface CallResult {
  readonly output: string;
  readonly stopReason: StopReason;
  readonly images: readonly string[];
}

/** A call of a recording, and the same call of its replay. */
export interface ReplayedCall {
  readonly toolCallId: string;
  readonly name: string;
  /** JSON, as it was recorded; of a call that was not, as it was made. */
  readonly arguments: string;
  /** Absent where the record holds no such call, or no output of it. */
  readonly recorded?: CallResult;
  /** Absent where the call was not made again. */
  readonly replayed?: CallResult;
  /** What differs, on one or more lines; absent where nothing does. */
  readonly difference?: string;
}

/** Makes an output comparable, once for each side. */
export interface Normalisers {
  readonly recorded: (output: string) => string;
  readonly replayed: (output: string) => string;
}

/** Compares the calls of a run one by one, in their order. */
export async function compareCalls(
  recorded: readonly RecordedCall[],
  replayed: readonly RecordedCall[],
  normalise: Normalisers,
): Promise<ReplayedCall[]> {
  const compared: ReplayedCall[] = [];
  for (const [i, one] of recorded.entries()) compared.push(await comparedCall(one, replayed[i], normalise));
  for (const { call, output } of replayed.slice(recorded.length)) {
    const result = output && { replayed: resultOf(output) };
    compared.push({ ...headOf({ call }), ...result, difference: "the record holds no such call" });
  }
  return compared;
}

async function comparedCall(
  recorded: RecordedCall,
  replayed: RecordedCall | undefined,
  normalise: Normalisers,
): Promise<ReplayedCall> {
  const before = recorded.output && resultOf(recorded.output);
  const after = replayed?.output && resultOf(replayed.output);
  const compared = {
    ...headOf(recorded),
    ...(before && { recorded: before }),
    ...(after && { replayed: after }),
  };
  if (after === undefined) return { ...compared, difference: "the call was not made again" };
  if (before === undefined) return { ...compared, difference: "the record holds no output of this call" };
  const difference = await differenceBetween(before, after, normalise);
  return difference === undefined ? compared : { ...compared, difference };
}

async function differenceBetween(
  before: CallResult,
  after: CallResult,
  normalise: Normalisers,
): Promise<string | undefined> {
  const lines: string[] = [];
  if (before.stopReason !== after.stopReason) lines.push(`stop_reason: ${before.stopReason} -> ${after.stopReason}`);
  if (before.images.length !== after.images.length) {
    lines.push(`images: ${before.images.length} -> ${after.images.length}`);
  } else {
    for (const [i, image] of before.images.entries())
      if (image !== after.images[i]) lines.push(`image ${i + 1} differs`);
  }
  const [left, right] = [normalise.recorded(before.output), normalise.replayed(after.output)];
  if (left !== right) lines.push(...(await diffLines(left, right)));
  return lines.length === 0 ? undefined : lines.join("\n");
}

const MAX_DIFF_LINES = 60;

async function diffLines(left: string, right: string): Promise<string[]> {
  // A line feed more on both sides keeps what a diff says of files without one out of it.
  const hunks = await diffHunks(Buffer.from(`${left}\n`), Buffer.from(`${right}\n`), 3);
  if (hunks === undefined)
    return [`the outputs differ in too much to show: ${left.length} -> ${right.length} characters`];
  const lines = hunks.flatMap((hunk) => formatHunk(hunk).split("\n"));
  const more = lines.length - MAX_DIFF_LINES;
  return more > 0 ? [...lines.slice(0, MAX_DIFF_LINES), `... ${more} more lines of this difference`] : lines;
}

function headOf({ call }: Pick<RecordedCall, "call">): Pick<ReplayedCall, "toolCallId" | "name" | "arguments"> {
  return { toolCallId: call.tool_call_id, name: call.name, arguments: call.arguments };
}

function resultOf({ output, stop_reason: stopReason = "completed", images = [] }: ToolCallOutputPayload): CallResult {
  return { output, stopReason, images };
}
