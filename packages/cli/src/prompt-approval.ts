import { createInterface } from "node:readline";
import type { ApprovalAnswer, ApprovalContext, ApprovalDecision, ApprovalRule, AskFn } from "@rookery/core";
import type { Io } from "./io.ts";
import type { OutputStream } from "./output-stream.ts";
import { questionText } from "./render/question.ts";

/** A person at a terminal who is asked about calls. */
export interface ApprovalPrompt {
  readonly ask: AskFn;
  /** Pending while a question stands on the screen, so that nothing is printed over it. */
  readonly answered: Promise<unknown>;
}

/**
 * Asks at the terminal; absent where nobody sits at one.
 *
 * `y` or `yes` allows, `a` or `always` allows for good where rules can say what, `n` or `no` denies, anything else, a bare
 * Enter too, asks again; what was typed before the question does not count. `signal`, by which Ctrl-C comes, denies. At the end of the input nobody can answer: this call and every
 * later one, about which no question is printed, are denied by `default`.
 */
export function approvalPrompt(io: Io, stdout: OutputStream, signal: AbortSignal): ApprovalPrompt | undefined {
  if (!io.stdin.isTTY || !io.stderr.isTTY) return undefined;
  let answered: Promise<unknown> = Promise.resolve();
  return {
    ask: (toolCall, context, { lasting, settled }) => {
      const ended = AbortSignal.any([signal, settled]);
      const answer = question(io, stdout, ended, toolCall.payload.name, context, lasting);
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
  lasting?: readonly ApprovalRule[],
): Promise<ApprovalAnswer | "always"> {
  await stdout.flush();
  await discardTyped(io.stdin);
  if (io.stdin.readableEnded) return NOBODY;
  io.stderr.write(questionText(name, context, io.stderr.columns || 80, lasting));
  const answer = await typedAnswer(io, signal, lasting !== undefined);
  if (answer === undefined) return NOBODY;
  return answer === "always" ? answer : { decision: answer, decidedBy: "user" };
}

const NOBODY: ApprovalAnswer = { decision: "deny", decidedBy: "default", reason: "nobody can answer" };

/** What was typed before the question stood on the screen is no answer to it: all that is ready is read and dropped. */
export async function discardTyped(stdin: Io["stdin"]): Promise<void> {
  const drop = (): void => undefined;
  stdin.on("data", drop);
  // A read that has something is served between two turns of the event loop.
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
  stdin.pause().off("data", drop);
}

/**
 * Absent at the end of the input. The terminal stays in its line mode, so that there is no state to restore however the
 * program ends.
 */
function typedAnswer(io: Io, signal: AbortSignal, canLast: boolean): Promise<ApprovalDecision | "always" | undefined> {
  return new Promise((resolve) => {
    const lines = createInterface({ input: io.stdin, output: io.stderr, terminal: false });
    const end = (answer: ApprovalDecision | "always" | undefined): void => {
      resolve(answer);
      signal.removeEventListener("abort", deny);
      lines.off("close", inputEnded).close();
    };
    const deny = (): void => end("deny");
    const inputEnded = (): void => {
      io.stderr.write("\n");
      end(undefined);
    };
    lines.setPrompt(`Type y to allow${canLast ? ", a to always allow," : ""} or n to deny: `);
    lines.on("line", (line) => {
      // What stands before the end of the input without an Enter was not sent off.
      if (io.stdin.readableEnded) return;
      const answer = line.trim().toLowerCase();
      if (["y", "yes"].includes(answer)) end("allow");
      else if (canLast && ["a", "always"].includes(answer)) end("always");
      else if (["n", "no"].includes(answer)) end("deny");
      else lines.prompt();
    });
    lines.on("close", inputEnded);
    signal.addEventListener("abort", deny, { once: true });
    if (signal.aborted) deny();
    else lines.prompt();
  });
}
