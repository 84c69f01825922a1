import type { UndoneFile, UndoOptions, UndoResult } from "@rookery/core";
import type { Command } from "commander";
import type { CommandContext } from "../command-line.ts";
import { confirm } from "../confirm.ts";
import { FAILED } from "../exit-code.ts";
import { type AgentFlags, addAgentFlags, addOutputFlag, numberIn, type OutputMode } from "../flags.ts";
import { jsonLine } from "../render/json-line.ts";
import { oneLine } from "../render/neutralise.ts";
import { undoCommand } from "../render/undo-command.ts";
import { diffLines, fileLines, isChanged, undoNotes } from "../render/undo-lines.ts";
import { notice } from "../report-error.ts";
import { sessionOfPart } from "../session-of-part.ts";
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
      "Put back the files that the last task of a session changed. At a terminal the changes are shown and a question is asked; elsewhere, and with --output json, it is done at once.",
    )
    .argument("<ID>", "as sessions list shows it, or a part of it")
    .option("--task <N>", "another task than the last", numberIn("--task", "the number of a task", range))
    .option("--force", "also files that somebody changed since; what is there is kept")
    .option("--dry-run", "show what would be done and do nothing")
    .option("--yes", "do not ask at a terminal");
  addOutputFlag(addAgentFlags(command), ["text", "json"]).action((id: string, flags: UndoFlags) =>
    undo(id, flags, context),
  );
}

async function undo(part: string, flags: UndoFlags, context: CommandContext): Promise<void> {
  const { task, force = false, dryRun = false, yes = false, output } = flags;
  const options = { ...(task !== undefined && { task }), force };
  await withAgent(flags, context, async (agent) => {
    const id = await sessionOfPart(agent, part);
    const run = (more: Pick<UndoOptions, "dryRun" | "task">): Promise<UndoResult> =>
      agent.undoSession(id, { ...options, ...more });
    const isTerminal = context.io.stdin.isTTY === true && context.io.stderr.isTTY === true;
    const asks = isTerminal && !dryRun && !yes && output !== "json";
    const shown = asks || dryRun ? await run({ dryRun: true }) : undefined;
    // Where a task changes nothing it is put on record that it is undone.
    const asked = !dryRun && shown && countChanged(shown) > 0 ? shown : undefined;
    if (asked) await preview(id, asked, flags, context);
    if (asked && !(await confirm(context.io, questionOf(asked)))) {
      notice(context.io, "nothing was undone");
      context.exitCode = FAILED;
      return;
    }
    const isDone = shown !== undefined && (dryRun || shown.task === undefined);
    // The task that was shown: meanwhile another process may have run one.
    const result = isDone ? shown : await run(shown?.task === undefined ? {} : { task: shown.task });
    if (output === "json") await tellJson(id, result, flags, context);
    else await tell(id, result, flags, context, asked);
    if (result.nothing === "not-kept" || result.files.some(isLeft)) context.exitCode = FAILED;
  });
}

function questionOf(result: UndoResult): string {
  const { task, prompt } = result;
  const count = countChanged(result);
  const about = prompt === undefined ? "" : ` (${oneLine(prompt)})`;
  const left = result.files.filter(isLeft).length;
  const rest = left === 0 ? "" : `, and leave ${left} as ${left === 1 ? "it is" : "they are"}`;
  return `Undo task ${task}${about}, ${count} file${count === 1 ? "" : "s"}${rest}?`;
}

function countChanged({ files }: UndoResult): number {
  return files.filter(isChanged).length;
}

/** Of the diffs, before the question. */
const MAX_LINES = 200;

/** What there is to know before the answer. */
async function preview(
  id: string,
  planned: UndoResult,
  flags: UndoFlags,
  { io, stdout }: CommandContext,
): Promise<void> {
  const command = undoCommand(id, flags, flags.task);
  const lines = diffLines(planned);
  const more = lines.length - MAX_LINES;
  await stdout.write(block(fileLines(planned, true)));
  await stdout.flush();
  for (const note of undoNotes(planned, command)) notice(io, note);
  await stdout.write(block(lines.slice(0, MAX_LINES)));
  if (more > 0) await stdout.write(`[${more} more line${more === 1 ? "" : "s"}: ${command} --dry-run]\n`);
  await stdout.flush();
}

/** What was done with each file, or would be. @param asked - What has been shown already. */
async function tell(
  id: string,
  result: UndoResult,
  flags: UndoFlags,
  { io, stdout }: CommandContext,
  asked: UndoResult | undefined,
): Promise<void> {
  const { again, earlierTask } = result;
  const command = undoCommand(id, flags, flags.task);
  if (!asked) await stdout.write(block(diffLines(result)));
  await stdout.write(block(fileLines(result, flags.dryRun === true)));
  await stdout.flush();
  const told = asked ? undoNotes(asked, command) : [];
  for (const note of undoNotes(result, command)) if (!told.includes(note)) notice(io, note);
  const commands = again?.undos.map((undo) => undoCommand(id, flags, undo));
  if (commands) notice(io, `to do task ${again?.task} again: ${commands.join(" && ")}`);
  if (earlierTask !== undefined)
    notice(io, `to undo task ${earlierTask}, which is before it: ${undoCommand(id, flags, earlierTask)}`);
}

async function tellJson(
  id: string,
  { task, undoTask, earlierTask, ...result }: UndoResult,
  { dryRun }: UndoFlags,
  { stdout }: CommandContext,
): Promise<void> {
  const numbers = {
    ...(task !== undefined && { task }),
    ...(undoTask !== undefined && { undo_task: undoTask }),
    ...(earlierTask !== undefined && { earlier_task: earlierTask }),
  };
  await stdout.write(jsonLine({ session_id: id, ...numbers, ...(dryRun && { dry_run: true }), ...result }));
}

/** A file stays as the task left it. */
function isLeft({ action }: Pick<UndoneFile, "action">): boolean {
  return action === "refused" || action === "not-kept";
}

function block(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join("");
}
