import { isType, type OmniMessage, type ReplayOptions, type ReplayReport, replayTrace } from "@rookery/core";
import type { CommandContext } from "./command-line.ts";
import { neutralise } from "./render/neutralise.ts";
import type { View } from "./render/view.ts";

interface Playing extends Omit<ReplayOptions, "agent" | "onRun"> {
  readonly view: View;
  /** Shows what was asked before each run. */
  readonly showInput: boolean;
}

/** Replays a recorded session as `run` shows one: with the same views, and at the pace of who reads. */
export async function playRecording(
  agent: ReplayOptions["agent"],
  records: readonly OmniMessage[],
  { view, showInput, ...options }: Playing,
  context: Pick<CommandContext, "io" | "stdout">,
): Promise<ReplayReport> {
  const messages = replayTrace(records, {
    ...options,
    agent,
    ...(showInput && { onRun: ({ input }) => writeInput(input, context) }),
  });
  for (;;) {
    const step = await messages.next();
    if (step.done) return step.value;
    const waiting = view.show(step.value);
    if (waiting) await waiting;
  }
}

/** On standard output at a terminal; elsewhere that is for the model's text alone. */
function writeInput(input: readonly OmniMessage[], { io, stdout }: Pick<CommandContext, "io" | "stdout">): void {
  for (const message of input) {
    if (!isType(message, "text")) continue;
    const text = `> ${neutralise(message.payload.text.trimEnd()).replaceAll("\n", "\n> ")}\n`;
    if (io.stdout.isTTY) stdout.write(text);
    else io.stderr.write(text);
  }
}
