import { dirname, join } from "node:path";
import { RookeryError } from "../errors/rookery-error.ts";
import { isSessionId } from "./session-id.ts";

/** Where one session keeps what, all absolute if the agent's directory is. */
export interface SessionPaths {
  /** Holds the context files, the lock, `session.json` and `processes`. */
  readonly traceDir: string;
  readonly lockFile: string;
  /** What is not history: title and archive mark. */
  readonly stateFile: string;
  /** There while commands of the session may be alive: how they are found. */
  readonly processesFile: string;
  readonly scratchpadDir: string;
  readonly undoDir: string;
}

/**
 * Composes the paths of a session inside its agent's directory; touches nothing.
 *
 * @throws {RookeryError} `session-not-found` for text that is not of the form of a session id, so that no id leads
 *   outside the directory.
 */
export function sessionPaths(agentDir: string, sessionId: string): SessionPaths {
  if (!isSessionId(sessionId)) {
    throw new RookeryError("session-not-found", `${JSON.stringify(sessionId)} is not a session id`, {
      hint: "use an id of the form session-YYYY-MM-DD-HH-mm-ss-xxxxxxxx",
    });
  }
  const traceDir = join(tracesDir(agentDir), sessionId);
  return {
    traceDir,
    lockFile: join(traceDir, "lock"),
    stateFile: join(traceDir, "session.json"),
    processesFile: join(traceDir, "processes"),
    scratchpadDir: join(agentDir, "scratchpad", sessionId),
    undoDir: join(agentDir, "undo", sessionId),
  };
}

/** The directories that hold what the sessions of an agent keep, of every session. */
export function harnessDirectories({ traceDir, scratchpadDir, undoDir }: SessionPaths): string[] {
  return [traceDir, scratchpadDir, undoDir].map(dirname);
}

/** The directory that holds one directory per session of an agent. */
export function tracesDir(agentDir: string): string {
  return join(agentDir, "traces");
}
