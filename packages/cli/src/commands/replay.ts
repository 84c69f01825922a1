import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { resolve } from "node:path";
import {
  type Agent,
  type ApprovalMode,
  type ApproveFn,
  approver,
  isSessionMeta,
  type OmniMessage,
  type ReplayReport,
  RookeryError,
  readTraceAt,
} from "@rookery/core";
import type { Command } from "commander";
import type { CommandContext } from "../command-line.ts";
import { DEMO_SOURCE, unpackProject } from "../demo/demo-files.ts";
import { FAILED, runExitCode } from "../exit-code.ts";
import {
  type AgentFlags,
  addAgentFlags,
  addOutputFlag,
  addSandboxFlags,
  addToolsetFlag,
  type OutputMode,
  oneOf,
} from "../flags.ts";
import { watchInterruption } from "../interruption.ts";
import { playRecording } from "../play-recording.ts";
import { jsonView, streamJsonView } from "../render/json-view.ts";
import { comparisonJson, comparisonText } from "../render/replay-report.ts";
import { textView } from "../render/text-view.ts";
import type { View } from "../render/view.ts";
import { notice } from "../report-error.ts";
import { scratchDirectory } from "../scratch-directory.ts";
import { withAgent } from "../with-agent.ts";

interface ReplayFlags extends AgentFlags {
  readonly check?: true;
  readonly workspace?: string;
  readonly approve?: (typeof RESTRICTIONS)[number];
  readonly output?: OutputMode;
}

/** `rookery replay`: a recorded session is run again, with its model's replies and the tools of today. */
export function defineReplay(program: Command, context: CommandContext): void {
  const command = program
    .command("replay")
    .description(
      "Run a recorded session again. The model's replies and the decisions come from the record; no model is asked, and " +
        "nobody is. THE CALLS THAT THE RECORD ALLOWED REALLY RUN ON THIS MACHINE, with your rights: replay no trace " +
        "whose commands you would not run yourself.",
    )
    .argument("<TRACE>", "a session's id or directory, a trace file, or what sessions export wrote")
    .option("--check", "compare each call's output with the recorded one; exit code 1 where one differs")
    .option(
      "--workspace <DIR>",
      "where the tools work; it CHANGES as they change it (default: a scratch directory, empty but for the demo)",
    )
    .option("--approve <MODE>", "allow less than the record: read-only, deny-all", oneOf("--approve", RESTRICTIONS));
  addOutputFlag(addAgentFlags(addSandboxFlags(addToolsetFlag(command))), ["text", "json", "stream-json"]).action(
    async (trace: string, flags: ReplayFlags) => {
      context.exitCode = await replay(trace, flags, context);
    },
  );
}

const RESTRICTIONS = ["read-only", "deny-all"] as const satisfies readonly ApprovalMode[];

async function replay(trace: string, flags: ReplayFlags, context: CommandContext): Promise<number> {
  const { io, stdout } = context;
  const interruption = watchInterruption(io, stdout);
  try {
    return await withAgent(flags, context, async (agent) => {
      const records = await recordsOf(trace, flags, agent, context);
      const report = await inWorkspace(flags, context, async (workspaceDir, isScratch) => {
        if (isScratch && isDemo(records)) await unpackProject(workspaceDir);
        return await play(agent, records, workspaceDir, flags, context, interruption.signal);
      });
      await stdout.flush();
      if (flags.check) writeComparison(report, records, flags, context);
      if (interruption.exitCode !== undefined) return interruption.exitCode;
      if (flags.check) return report.equal ? 0 : FAILED;
      return runExitCode(lastOutcome(report));
    });
  } finally {
    interruption.stop();
  }
}

async function recordsOf(
  trace: string,
  { check }: ReplayFlags,
  agent: Agent,
  { io }: CommandContext,
): Promise<OmniMessage[]> {
  const path = resolve(io.cwd, trace);
  const isPath = existsSync(path) || /[/\\]|\.jsonl$/.test(trace);
  const records: OmniMessage[] = [];
  for await (const entry of isPath ? readTraceAt(path) : agent.readSession(trace)) {
    if ("message" in entry) records.push(entry.message);
    else if (check) throw damaged(entry.problem);
    else notice(io, `warning: ${entry.problem}`);
  }
  return records;
}

function damaged(problem: string): RookeryError {
  return new RookeryError("trace-corrupt", `nothing was checked: ${problem}`, {
    hint: "a trace under test must be whole; take one that is, or replay it without --check",
  });
}

/** What the demo's session begins with is known. */
function isDemo(records: readonly OmniMessage[]): boolean {
  return records.some((record) => isSessionMeta(record) && record.payload.source === DEMO_SOURCE);
}

/** A scratch directory goes away again, unless there is something to look for in it. */
async function inWorkspace(
  { workspace }: ReplayFlags,
  { io }: CommandContext,
  use: (workspaceDir: string, isScratch: boolean) => Promise<ReplayReport>,
): Promise<ReplayReport> {
  if (workspace !== undefined) return await use(resolve(io.cwd, workspace), false);
  const scratch = await scratchDirectory("rookery-replay-");
  let isKept = false;
  try {
    const report = await use(scratch, true);
    isKept = !report.equal;
    if (isKept) {
      notice(
        io,
        `outputs differ from the record; the workspace is left in ${scratch}. It was empty at the beginning: pass ` +
          "--workspace DIR with what was there when the session was recorded",
      );
    }
    return report;
  } finally {
    if (!isKept) await rm(scratch, { recursive: true, force: true });
  }
}

async function play(
  agent: Agent,
  records: readonly OmniMessage[],
  workspaceDir: string,
  { check, approve, output = "text" }: ReplayFlags,
  context: CommandContext,
  signal: AbortSignal,
): Promise<ReplayReport> {
  const { io, stdout } = context;
  const view =
    output === "stream-json" ? streamJsonView(stdout) : check || output === "json" ? NO_VIEW : textView(io, stdout);
  const restrict = approve && restriction(approve);
  const report = await playRecording(
    agent,
    records,
    {
      workspaceDir,
      signal,
      view,
      showInput: output === "text" && !check,
      ...(restrict && { restrict }),
      ...(isDemo(records) && { source: DEMO_SOURCE }),
    },
    context,
  );
  if (check) return report;
  const last = output === "json" ? jsonView(stdout, report) : view;
  last.end(lastOutcome(report));
  return report;
}

const NO_VIEW: View = { show: () => undefined, end: () => undefined };

/** What `run` would have asked a person about is denied: nobody is asked here. */
function restriction(mode: (typeof RESTRICTIONS)[number]): ApproveFn {
  const reason = `replayed with --approve ${mode}`;
  return approver({ mode, ask: async () => ({ decision: "deny", decidedBy: "mode", reason }) });
}

function lastOutcome({ outcomes }: ReplayReport): ReplayReport["outcomes"][number] {
  const outcome = outcomes.find(({ status }) => status !== "completed") ?? outcomes.at(-1);
  if (outcome === undefined) throw new TypeError("a replay without a run");
  return outcome;
}

function writeComparison(
  report: ReplayReport,
  records: readonly OmniMessage[],
  { output }: ReplayFlags,
  { io, stdout }: CommandContext,
): void {
  if (output === "json") stdout.write(comparisonJson(report));
  else {
    const text = comparisonText(report, records, io.stdout.columns || 80);
    if (output === "stream-json") io.stderr.write(text);
    else stdout.write(text);
  }
}
