import { createInterface } from "node:readline";
import type { ApprovalAnswer, ApprovalContext, ApproveFn } from "@rookery/core";
import type { Io } from "./io.ts";
import type { OutputStream } from "./output-stream.ts";
import { exposed } from "./render/neutralise.ts";

/** A person at a terminal who is asked about calls. */
export interface ApprovalPrompt {
  readonly ask: ApproveFn;
  /** Pending while a question stands on the screen, so that nothing is printed over it. */
  readonly answered: Promise<unknown>;
}

/**
 * Asks at the terminal; absent where nobody sits at one.
 *
 * `y` or `yes` allows, `n` or `no` denies, anything else, a bare Enter too, asks again; what was typed before the question
 * does not count. The end of the input denies, and so does `signal`, by which Ctrl-C comes.
 */
export function approvalPrompt(io: Io, stdout: OutputStream, signal: AbortSignal): ApprovalPrompt | undefined {
  if (!io.stdin.isTTY || !io.stderr.isTTY) return undefined;
  let answered: Promise<unknown> = Promise.resolve();
  return {
    ask: (toolCall, context) => {
      const answer = question(io, stdout, signal, toolCall.payload.name, context);
      answered = answer.catch(() => undefined);
      return answer;
    },
    get answered() {
      return answered;
    },
  };
}

async function question(
  io: Io,
  stdout: OutputStream,
  signal: AbortSignal,
  name: string,
  context: ApprovalContext,
): Promise<ApprovalAnswer> {
  await stdout.flush();
  await discardTyped(io.stdin);
  const summary = exposed(context.summary).replaceAll("\n", "\n  ");
  io.stderr.write(
    `\nAllow ${exposed(name)}?\n  ${summary}\n  risk: ${context.risk}   workspace: ${exposed(context.workspace)}\n`,
  );
  const allowed = await yesOrNo(io, signal);
  return { decision: allowed ? "allow" : "deny", decidedBy: "user" };
}

/** What was typed before the question stood on the screen is no answer to it: all that is ready is read and dropped. */
async function discardTyped(stdin: Io["stdin"]): Promise<void> {
  const drop = (): void => undefined;
  stdin.on("data", drop);
  // A read that has something is served between two turns of the event loop.
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
  stdin.pause().off("data", drop);
}

/** The terminal stays in its line mode, so that there is no state to restore however the program ends. */
function yesOrNo(io: Io, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const lines = createInterface({ input: io.stdin, output: io.stderr, terminal: false });
    const end = (allowed: boolean): void => {
      resolve(allowed);
      signal.removeEventListener("abort", deny);
      lines.close();
    };
    const deny = (): void => end(false);
    lines.setPrompt("Type y to allow or n to deny: ");
    lines.on("line", (line) => {
      const answer = line.trim().toLowerCase();
      if (["y", "yes"].includes(answer)) end(true);
      else if (["n", "no"].includes(answer)) end(false);
      else lines.prompt();
    });
    lines.on("close", deny);
    signal.addEventListener("abort", deny, { once: true });
    if (signal.aborted || io.stdin.readableEnded) deny();
    else lines.prompt();
  });
}
