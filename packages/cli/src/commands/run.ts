import { resolve } from "node:path";
import {
  type ApprovalMode,
  type ApproveFn,
  type GoalOptions,
  type OmniMessage,
  RookeryError,
  type RunOutcome,
  readProjectConfig,
  readUserImage,
  type Session,
  userText,
} from "@rookery/core";
import type { Command } from "commander";
import type { CommandContext } from "../command-line.ts";
import { runExitCode, stopExitCode } from "../exit-code.ts";
import {
  type AgentFlags,
  APPROVAL_MODES,
  addAgentFlags,
  addDebugFlag,
  addOutputFlag,
  addSandboxFlags,
  addToolsetFlag,
  modelFlags,
  numberIn,
  type OutputMode,
  oneOf,
  onlyOnce,
} from "../flags.ts";
import { goOnHint } from "../go-on-hint.ts";
import { readGoal } from "../goal-flag.ts";
import { watchInterruption } from "../interruption.ts";
import { projectApprover } from "../project-approver.ts";
import { type ApprovalPrompt, approvalPrompt } from "../prompt-approval.ts";
import { readPrompt } from "../read-prompt.ts";
import { leftRunningLine } from "../render/background-line.ts";
import { jsonView, streamJsonView } from "../render/json-view.ts";
import { spendingView } from "../render/spending-view.ts";
import { textView } from "../render/text-view.ts";
import type { View } from "../render/view.ts";
import { notice } from "../report-error.ts";
import { retryKey } from "../retry-key.ts";
import { runHint } from "../run-hint.ts";
import { type ResumeFlags, readResume, sessionToResume } from "../session-to-resume.ts";
import { withAgent } from "../with-agent.ts";
import { configFile } from "./config-file.ts";

interface RunFlags extends AgentFlags, ResumeFlags {
  readonly file?: string;
  readonly image?: readonly string[];
  readonly model?: string;
  readonly provider?: string;
  readonly modelId?: string;
  readonly clientType?: string;
  readonly baseUrl?: string;
  readonly workspace?: string;
  readonly approve?: ApprovalMode;
  readonly thinking?: (typeof THINKING_LEVELS)[number];
  readonly maxTurns?: number;
  /** In seconds. */
  readonly timeout?: number;
  /** In USD. */
  readonly maxCost?: number;
  /** A budget, or the prompt where that came next. */
  readonly goal?: string | true;
  readonly output?: OutputMode;
}

/** `rookery run`: one task from a prompt to its end. */
export function defineRun(program: Command, context: CommandContext): void {
  const command = program
    .command("run")
    .description("Do one task. Without PROMPT, standard input is the prompt; write -- before one that begins with -.")
    .argument("[PROMPT]", "what to do")
    .option("--file <FILE>", "a prompt, or more of it, from a file; - is standard input", onlyOnce("--file"))
    .option("--image <FILE>", "an image that belongs to the prompt; may be repeated", addImage)
    .option("--model <PROVIDER/MODEL_ID>", "the model; the provider ends at the first slash")
    .option("--provider <PROVIDER>", "the same in two parts, with --model-id")
    .option("--model-id <MODEL_ID>", "the same in two parts, with --provider")
    .option("--client-type <TYPE>", "the protocol the server speaks (default: by the model's name)")
    .option("--base-url <URL>", "the server's address, as in http://127.0.0.1:8080/v1")
    .option(
      "--resume [ID]",
      "go on with a session: its id or a part of it, without one a list to pick from",
      onlyOnce("--resume"),
    )
    .option("--continue", "go on with the latest session of the workspace")
    .option("--workspace <DIR>", "where the agent works (default: here)")
    .option("--approve <MODE>", `${APPROVAL_MODES.join(", ")} (default: allow-all)`, oneOf("--approve", APPROVAL_MODES))
    .option("--thinking <LEVEL>", THINKING_LEVELS.join(", "), oneOf("--thinking", THINKING_LEVELS))
    .option(
      "--max-turns <N>",
      "the most requests to the model",
      numberIn("--max-turns", "a whole number above 0", TURNS),
    )
    .option("--timeout <SECONDS>", "the most time", numberIn("--timeout", "a number of seconds", SECONDS))
    .option("--max-cost <USD>", "the most that the task may cost", numberIn("--max-cost", "an amount in USD", USD))
    .option(
      "--goal [BUDGET]",
      "work on PROMPT, round after round, until it is reached; with a budget in tokens: 200k, 1.5m",
      onlyOnce("--goal"),
    );
  addOutputFlag(addAgentFlags(addDebugFlag(addSandboxFlags(addToolsetFlag(command)))), [
    "text",
    "json",
    "stream-json",
  ]).action(async (argument: string | undefined, flags: RunFlags) => {
    context.exitCode = await run(argument, flags, context);
  });
}

const THINKING_LEVELS = ["none", "low", "medium", "high", "xhigh"] as const;
const TURNS = { integer: true, max: 1_000_000 };
// A Node timer takes no more milliseconds than fit into 31 bits.
const SECONDS = { integer: false, max: 2_147_483 };
const USD = { integer: false, max: 1_000_000 };

async function run(argument: string | undefined, flags: RunFlags, context: CommandContext): Promise<number> {
  const { io, stdout } = context;
  const pair = modelFlags(flags);
  const { resume, prompt: behindResume = argument } = readResume(flags.resume, argument);
  const { goal, prompt = behindResume } = readGoal(flags.goal, behindResume);
  if (goal) assertReportable(flags.approve);
  const input = [userText(await readPrompt(prompt, flags.file, io, resume)), ...(await readImages(flags, context))];
  const interruption = watchInterruption(io, stdout, flags.timeout === undefined ? undefined : flags.timeout * 1000);
  try {
    return await withAgent(flags, context, async (agent) => {
      const workspaceDir = resolve(io.cwd, flags.workspace ?? ".");
      const options = {
        ...pair,
        ...(flags.clientType !== undefined && { clientType: flags.clientType }),
        ...(flags.baseUrl !== undefined && { baseUrl: flags.baseUrl }),
        ...(flags.thinking && { thinkingLevel: flags.thinking }),
        ...(flags.maxTurns !== undefined && { maxTurns: flags.maxTurns }),
      };
      const which = { ...(resume !== undefined && { resume }), ...(flags.continue && { continue: flags.continue }) };
      const resumed = await sessionToResume(agent, which, workspaceDir, io, interruption.signal);
      if (interruption.signal.aborted) return interruption.exitCode ?? stopExitCode("timeout");
      const session =
        resumed === undefined
          ? await agent.createSession({ ...options, workspaceDir })
          : await agent.resumeSession(resumed, { ...options, ...(flags.workspace !== undefined && { workspaceDir }) });
      if (flags.maxCost !== undefined) assertPriced(session);
      if (flags.image) assertVision(session);
      const { approve: mode = "allow-all" } = flags;
      const person = approvalPrompt(io, stdout, interruption.signal);
      const approve = await projectApprover(agent, mode, person, io);
      const decisions = { approve, ...(person && { person }) };
      const outcome = await drive(
        session,
        input,
        { ...decisions, ...(goal && { goal }) },
        flags,
        context,
        interruption.signal,
      );
      return outcome.status === "completed" ? 0 : (interruption.exitCode ?? runExitCode(outcome));
    });
  } finally {
    interruption.stop();
  }
}

/** A goal ends when the model writes so into a file. */
function assertReportable(approve: ApprovalMode | undefined): void {
  if (approve !== "read-only" && approve !== "deny-all") return;
  throw new RookeryError(
    "usage",
    `--goal came together with --approve ${approve}, under which its end cannot be written`,
    {
      hint: "use --approve always-ask, or --sandbox read-only to keep the workspace as it is",
    },
  );
}

/** A limit on costs that are not known would stop nothing. */
function assertPriced({ pricing, meta }: Session): void {
  if (pricing !== undefined) return;
  const name = `${meta.provider}/${meta.model_id}`;
  throw new RookeryError("config-invalid", `--max-cost needs a price, and none is known for ${name}`, {
    hint: `store one with rookery config model add ${name} --price INPUT,OUTPUT (USD per million tokens)`,
  });
}

function addImage(file: string, others: readonly string[] = []): string[] {
  return [...others, file];
}

async function readImages(flags: RunFlags, context: CommandContext): Promise<OmniMessage[]> {
  const { image: files = [] } = flags;
  if (files.length === 0) return [];
  const { cwd, env } = context.io;
  const { images } = await readProjectConfig(configFile(flags, context));
  const options = { allowPrivateAddresses: images?.allow_private_addresses === true, env };
  return Promise.all(files.map((file) => readUserImage(file, cwd, options)));
}

/** An image that the model does not see would be answered as if it were not there. */
function assertVision({ vision, meta }: Session): void {
  if (vision) return;
  const name = `${meta.provider}/${meta.model_id}`;
  throw new RookeryError("config-invalid", `--image needs a model that sees images, and ${name} is not known to`, {
    hint: `choose another with --model, or say that it does with rookery config model add ${name} --vision`,
  });
}

async function drive(
  session: Session,
  input: readonly OmniMessage[],
  {
    approve,
    person,
    goal,
  }: { readonly approve: ApproveFn; readonly person?: ApprovalPrompt; readonly goal?: GoalOptions },
  flags: RunFlags,
  context: CommandContext,
  signal: AbortSignal,
): Promise<RunOutcome> {
  const { output = "text", maxCost } = flags;
  const { io, stdout } = context;
  const retry = retryKey(io, () => session.skipReconnectWait());
  const view = createView(output, session, { io, stdout });
  const messages = session.run(input, {
    approve,
    signal,
    ...(maxCost !== undefined && { maxCostUsd: maxCost }),
    ...(goal && { goal }),
  });
  for (;;) {
    const step = await messages.next();
    if (step.done) {
      await stdout.flush();
      if (stdout.broken.aborted) return step.value;
      const place = { projectConfigFile: configFile(flags, context), env: io.env };
      const { workspace, baseUrl } = flags;
      const goneOn = { sessionId: session.sessionId, workspace, baseUrl };
      view.end(step.value, (await runHint(step.value, session.meta, place)) ?? goOnHint(step.value, goneOn));
      const left = output === "text" ? leftRunningLine(session.listBackgroundCommands()) : undefined;
      if (left !== undefined) notice(io, left);
      return step.value;
    }
    if (person) await person.answered;
    const waiting = view.show(step.value);
    if (waiting) await waiting;
    retry?.(step.value);
  }
}

function createView(output: OutputMode, session: Session, { io, stdout }: Pick<CommandContext, "io" | "stdout">): View {
  if (output === "stream-json") return streamJsonView(stdout);
  return output === "json" ? jsonView(stdout, session, io) : spendingView(textView(io, stdout), io);
}
