import { rm } from "node:fs/promises";
import { resolve } from "node:path";
import {
  Environment,
  type EnvironmentConfig,
  type OmniMessage,
  type ReplayOptions,
  type ReplayReport,
  STANDARD_TOOLSET,
} from "@rookery/core";
import type { Command } from "commander";
import type { CommandContext } from "../command-line.ts";
import { DEMO_SOURCE, demoRecords, unpackProject } from "../demo/demo-files.ts";
import { runProjectTests, type TestResult } from "../demo/run-project-tests.ts";
import { FAILED } from "../exit-code.ts";
import { type AgentFlags, addAgentFlags } from "../flags.ts";
import { MODEL_STEPS } from "../help.ts";
import { watchInterruption } from "../interruption.ts";
import type { Io } from "../io.ts";
import { playRecording } from "../play-recording.ts";
import { programName } from "../program-name.ts";
import { textView } from "../render/text-view.ts";
import { notice } from "../report-error.ts";
import { scratchDirectory } from "../scratch-directory.ts";
import { withAgent } from "../with-agent.ts";

interface DemoFlags extends AgentFlags {
  readonly unpack?: string;
}

/** `rookery demo`: a recorded agent repairs a small project, and the tools really run. */
export function defineDemo(program: Command, context: CommandContext): void {
  const command = program
    .command("demo")
    .description(
      "Watch a recorded agent repair a small project in a scratch directory. The replies are recorded, the tools really " +
        "run, and the tests of the project decide on the exit code. Needs no key and no network.",
    )
    .option("--unpack <DIR>", "only put the project, with its fault, into a new directory");
  addAgentFlags(command).action(async (flags: DemoFlags) => {
    context.exitCode =
      flags.unpack === undefined
        ? await demo(flags, context)
        : await unpack(resolve(context.io.cwd, flags.unpack), context);
  });
}

/** Short enough to stay under five seconds in all. */
const DELTA_DELAY_MS = 10;

async function unpack(directory: string, { stdout }: CommandContext): Promise<number> {
  await unpackProject(directory);
  stdout.write(`the project is in ${directory}; two of its tests fail\n`);
  return 0;
}

async function demo(flags: DemoFlags, context: CommandContext): Promise<number> {
  const { io, stdout } = context;
  const interruption = watchInterruption(io, stdout);
  const workspaceDir = await scratchDirectory("rookery-demo-");
  let isKept = false;
  try {
    await unpackProject(workspaceDir);
    await stdout.write(`A recorded agent repairs the project in ${workspaceDir}; its tools really run.\n\n`);
    await stdout.flush();
    const report = await play(await demoRecords(), workspaceDir, flags, context, interruption.signal);
    const tests = await runProjectTests(workspaceDir, io.env, interruption.signal);
    if (interruption.exitCode !== undefined) return interruption.exitCode;
    isKept = !tests.ok;
    stdout.write(summary(tests, report, flags, io));
    if (!tests.ok) tellWhy(tests, report, context);
    return tests.ok ? 0 : FAILED;
  } finally {
    interruption.stop();
    if (!isKept) await rm(workspaceDir, { recursive: true, force: true });
  }
}

async function play(
  records: readonly OmniMessage[],
  workspaceDir: string,
  flags: DemoFlags,
  context: CommandContext,
  signal: AbortSignal,
): Promise<ReplayReport> {
  const { io, stdout } = context;
  const view = textView(io, stdout);
  const deltaDelayMs = io.stdout.isTTY ? DELTA_DELAY_MS : 0;
  const report = await withAgent(flags, context, (agent) => {
    const maker: ReplayOptions["agent"] = {
      createSession: (options) =>
        agent.createSession({ ...options, toolset: "standard", createEnvironment: demoEnvironment }),
    };
    return playRecording(
      maker,
      records,
      { workspaceDir, signal, deltaDelayMs, view, showInput: true, source: DEMO_SOURCE },
      context,
    );
  });
  const outcome = report.outcomes.at(-1);
  if (outcome) view.end(outcome);
  await stdout.flush();
  return report;
}

/**
 * The tools that ship, whatever the agent's own are. Options for every Node program here, such as another reporter for
 * tests, are none for those that were recorded.
 */
function demoEnvironment(config: EnvironmentConfig): Environment {
  const toolConfig = { customTools: STANDARD_TOOLSET, mcpServers: [] };
  return new Environment({ ...config, toolConfig, vault: { ...config.vault, NODE_OPTIONS: "" } });
}

function summary(
  { pass, fail }: TestResult,
  { sessionId, traceFile }: ReplayReport,
  flags: DemoFlags,
  { cwd }: Io,
): string {
  const program = programName(process.argv[1], cwd);
  const place = Object.entries({ root: flags.root, project: flags.project, agent: flags.agent })
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => ` --${name} '${value?.replaceAll("'", "'\\''")}'`)
    .join("");
  return `
The project's tests, run once more by the demo itself: ${pass} of ${pass + fail} pass.

What was recorded:          ${program} sessions show ${sessionId}${place}
  in the file               ${traceFile}
The same again, compared:   ${program} replay ${sessionId} --check${place}
With a model of your own, in a directory of yours:
${MODEL_STEPS.map((step) => `  ${step.replace("rookery", program)}\n`).join("")}`;
}

function tellWhy(
  { pass, fail }: TestResult,
  { calls, problems, workspaceDir }: ReplayReport,
  { io }: CommandContext,
): void {
  const what = pass + fail === 0 ? "could not be run" : `still fail (${fail} of ${pass + fail})`;
  notice(io, `the project was not repaired: its tests ${what}; it is left in ${workspaceDir}`);
  for (const { name, recorded, replayed } of calls) {
    if (recorded?.stopReason === replayed?.stopReason) continue;
    const now = replayed === undefined ? "was not made again" : `ends ${replayed.stopReason} now`;
    notice(io, `the call of ${name} ended ${recorded?.stopReason ?? "in nothing"} when it was recorded, and ${now}`);
  }
  for (const problem of problems) notice(io, problem);
}
