import type { UndoneFile, UndoOptions, UndoResult } from "@rookery/core";
import type { Command } from "commander";
import type { CommandContext } from "../command-line.ts";
import { confirm } from "../confirm.ts";
import { FAILED } from "../exit-code.ts";
import { type AgentFlags, addAgentFlags, addOutputFlag, numberIn, type OutputMode } from "../flags.ts";
import { jsonLine } from "../render/json-line.ts";
import { neutralise, oneLine } from "../render/neutralise.ts";
import { notice } from "../report-error.ts";
import { sessionOfPart } from "../session-to-resume.ts";
import { withAgent } from "../with-agent.ts";

interface UndoFlags extends AgentFlags {
  readonly task?: number;
  readonly force?: true;
  readonly dryRun?: true;
  readonly yes?: true;
  readonly output?: OutputMode;
}

/** `rookery sessions undo`: the files that a task changed, as they were before it. */
export function defineUndo(sessions: Command, context: CommandContext): void {
  const range = { integer: true, max: Number.MAX_SAFE_INTEGER };
  const command = sessions
    .command("undo")
    .description(
      "Put back the files that the last task of a session changed. At a terminal the changes are shown first.",
    )
    .argument("<ID>", "as sessions list shows it, or a part of it")
    .option("--task <N>", "another task than the last", numberIn("--task", "the number of a task", range))
    .option("--force", "also files that somebody changed since; what is there is kept")
    .option("--dry-run", "show what would be done and do nothing")
    .option("--yes", "do not ask");
  addOutputFlag(addAgentFlags(command), ["text", "json"]).action((id: string, flags: UndoFlags) =>
    undo(id, flags, context),
  );
}

async function undo(part: string, flags: UndoFlags, context: CommandContext): Promise<void> {
  const { task, force = false, dryRun = false, yes = false, output } = flags;
  const options = { ...(task !== undefined && { task }), force };
  await withAgent(flags, context, async (agent) => {
    const id = await sessionOfPart(agent, part);
    const run = (more: Pick<UndoOptions, "dryRun">): Promise<UndoResult> =>
      agent.undoSession(id, { ...options, ...more });
    const asks = !dryRun && !yes && context.io.stdin.isTTY === true && context.io.stderr.isTTY === true;
    const shown = asks || dryRun ? await run({ dryRun: true }) : undefined;
    if (output !== "json" && shown) await showDiffs(shown, context);
    if (shown && dryRun) return await tell(id, shown, flags, context);
    // Where nothing changes it is put on record that the task is undone.
    if (shown && countChanged(shown) > 0 && !(await confirm(context.io, questionOf(shown)))) {
      notice(context.io, "nothing was undone");
      context.exitCode = FAILED;
      return;
    }
    const result = await run({});
    if (output !== "json" && !shown) await showDiffs(result, context);
    await tell(id, result, flags, context);
  });
}

function questionOf(result: UndoResult): string {
  const { task, prompt } = result;
  const count = countChanged(result);
  const about = prompt === undefined ? "" : ` (${oneLine(prompt)})`;
  return `Undo task ${task}${about}, ${count} file${count === 1 ? "" : "s"}?`;
}

function countChanged({ files }: UndoResult): number {
  return files.filter(isChanged).length;
}

function isChanged({ action }: UndoneFile): boolean {
  return action === "restored" || action === "deleted";
}

/** Nothing in a file may control the terminal. */
async function showDiffs({ files }: UndoResult, { stdout }: CommandContext): Promise<void> {
  for (const { diff } of files) if (diff !== undefined) await stdout.write(`${neutralise(diff)}\n`);
}

/** What was done with each file, or would be; 1 when a file stays as the task left it. */
async function tell(
  id: string,
  result: UndoResult,
  { output, dryRun }: UndoFlags,
  context: CommandContext,
): Promise<void> {
  const { io, stdout } = context;
  const { task, undoTask, prompt, files, notes } = result;
  if (files.some(({ action }) => action === "refused" || action === "not-kept")) context.exitCode = FAILED;
  if (output === "json") {
    const numbers = { ...(task !== undefined && { task }), ...(undoTask !== undefined && { undo_task: undoTask }) };
    const about = { ...(prompt !== undefined && { prompt }), ...(dryRun && { dry_run: true }) };
    await stdout.write(jsonLine({ session_id: id, ...numbers, ...about, files, notes }));
    return;
  }
  for (const { path, action, reason } of files) {
    const why = reason === undefined ? "" : `: ${oneLine(reason)}`;
    await stdout.write(`${dryRun && isChanged({ path, action }) ? "would be " : ""}${action} ${oneLine(path)}${why}\n`);
  }
  for (const note of notes) notice(io, note);
  if (files.some(({ action }) => action === "refused"))
    notice(io, "--force undoes what was refused because it changed");
  if (undoTask !== undefined) notice(io, `to do task ${task} again: rookery sessions undo ${id} --task ${undoTask}`);
}
