import type { OnWarning } from "../../environment/contract.ts";
import { ProcessRegistry } from "../../environment/process/process-registry.ts";
import type { SessionLock } from "../../trace/lock.ts";
import { harnessDirectories, type SessionPaths } from "../../trace/session-paths.ts";
import { restoreSession } from "../resume/restore-session.ts";
import { SessionRecord } from "../session-record.ts";
import { SessionUndo } from "./session-undo.ts";
import type { UndoSettings } from "./settings.ts";
import { undoRecords } from "./undo-note.ts";
import type { UndoOptions, UndoResult } from "./undo-task.ts";

/**
 * Undoes a task of a session that is not open, and tells of it in its record. What a killed process left running of its
 * commands is ended first, so that it changes nothing any more.
 *
 * @param session.files - Of its contexts.
 * @param session.lock - Released at the end.
 * @throws {RookeryError} `trace-corrupt`, and as `undoTask`.
 */
export async function undoOnRecord(
  session: {
    readonly files: readonly string[];
    readonly paths: SessionPaths;
    readonly lock: SessionLock;
    readonly settings: UndoSettings;
    readonly env: NodeJS.ProcessEnv;
    readonly onWarning: OnWarning;
  },
  options: UndoOptions,
): Promise<UndoResult> {
  const { paths, lock, onWarning } = session;
  const { meta, log, ending, memory } = await restoreSession(session.files);
  const undo = new SessionUndo({
    ...session,
    undoDir: paths.undoDir,
    workspaceDir: meta.workspace,
    mayHaveChanged: memory.mayHaveChanged,
    apart: harnessDirectories(paths),
  });
  if (!options.dryRun) await new ProcessRegistry({ ownerFile: paths.processesFile, onWarning }).dispose();
  const done = await undo.undo(options);
  const record = new SessionRecord(paths, lock, ending, log, onWarning);
  for (const message of undoRecords(done)) record.add(message);
  record.close();
  return done.result;
}
