import type { ApprovalRule } from "../approval/rule.ts";
import { ProcessRegistry } from "../environment/process/process-registry.ts";
import { findToolset } from "../environment/toolset-registry.ts";
import { quietly } from "../environment/warn-on-stderr.ts";
import { errorText } from "../errors/error-text.ts";
import { RookeryError } from "../errors/rookery-error.ts";
import type { DebugLog } from "../llm/network/debug-log.ts";
import type { Session } from "../session/session.ts";
import type { ToolRunner } from "../session/tool-runner.ts";
import { undoOnRecord } from "../session/undo/undo-on-record.ts";
import type { UndoOptions, UndoResult } from "../session/undo/undo-task.ts";
import { type ExportEntry, exportSession } from "../trace/export-session.ts";
import { type ImportedSession, type ImportOptions, importSession } from "../trace/import-session.ts";
import type { TraceEntry } from "../trace/read-trace.ts";
import { sessionPaths } from "../trace/session-paths.ts";
import { contextFiles, latestSessionId, listSessions, readSession, removeSession } from "../trace/session-store.ts";
import type { SessionSummary } from "../trace/session-summary.ts";
import type { AgentOptions, SessionOptions } from "./agent-options.ts";
import { addRules } from "./edit-rules.ts";
import { openDebugFile } from "./model-fetch.ts";
import { type AgentPaths, agentPaths, dataRoot } from "./paths.ts";
import { readProjectConfig } from "./project-config.ts";
import { locked } from "./session-lock.ts";
import { SessionOpener, type ToolRunnerOptions } from "./session-opener.ts";
import { undoSettings } from "./undo-options.ts";

/**
 * Opens an agent. Its files, which it needs not have, are read when a session is made; it writes nothing but the traces and
 * scratchpads of its sessions.
 *
 * @throws {RookeryError} `config-invalid` for an agent or project id that cannot name a directory, a `toolset` that is not
 *   known, and a `debugFile` that is not the user's own regular file.
 */
export async function createAgent(options: AgentOptions = {}): Promise<Agent> {
  const { agentId = "default_agent", projectId = "default_project", env = process.env } = options;
  findToolset(options.toolset);
  const paths = agentPaths(dataRoot(options.root, env), projectId, agentId);
  return new Agent(options, paths, openDebugFile(options));
}

/** One agent: what its sessions have in common, and what they left. */
export class Agent {
  readonly #options: AgentOptions;
  readonly #paths: AgentPaths;
  readonly #debugLog: DebugLog | undefined;
  readonly #opener: SessionOpener;
  readonly #open = new Set<{ dispose(): Promise<void> }>();
  #closed = false;

  constructor(options: AgentOptions, paths: AgentPaths, debugLog?: DebugLog) {
    this.#options = options;
    this.#paths = paths;
    this.#debugLog = debugLog;
    this.#opener = new SessionOpener(options, paths, debugLog, (made) => this.#open.delete(made));
  }

  /**
   * Makes a session; no network, no process.
   *
   * @throws {RookeryError} `usage`, `model-missing`, `model-auth`, `config-invalid`, `workspace-missing`,
   *   `root-unwritable`, `sandbox-unavailable`, `tool-duplicate`, `agent-closed`.
   */
  async createSession(options: SessionOptions = {}): Promise<Session> {
    this.#assertOpen();
    return this.#keep(await this.#opener.create(options));
  }

  /**
   * Opens a session where its trace ends: same model, same workspace, same prompt; thinking level, tools, limits and
   * rules are those of now. What a killed process left running is ended; what it left unfinished goes to the model with the next input.
   *
   * @throws {RookeryError} As `createSession`; `session-not-found`, `session-locked`, `trace-corrupt`; `usage` for a model
   *   or a workspace other than the session's.
   */
  async resumeSession(sessionId: string, options: SessionOptions = {}): Promise<Session> {
    this.#assertOpen();
    return this.#keep(await this.#opener.resume(sessionId, options));
  }

  /**
   * Makes a runner of single tools: the session's environment without a model and without a record. It has the tools for
   * models that see images and those for models that do not.
   */
  async createToolRunner(options: ToolRunnerOptions = {}): Promise<ToolRunner> {
    this.#assertOpen();
    return this.#keep(await this.#opener.toolRunner(options));
  }

  /** The project's rules as they are stored now, for an `approver`. @throws {RookeryError} `config-invalid`. */
  async rules(): Promise<readonly ApprovalRule[]> {
    return (await readProjectConfig(this.#paths.projectConfigFile)).rules ?? [];
  }

  /** Stores rules in the project, those that it has already once. @throws {RookeryError} `config-invalid`, `root-unwritable`. */
  async addRules(rules: readonly ApprovalRule[]): Promise<void> {
    await addRules(this.#paths.projectConfigFile, rules);
  }

  /** The agent's sessions, the latest first. */
  listSessions(): Promise<SessionSummary[]> {
    return listSessions(this.#paths.agentDir);
  }

  /** The session with the latest record, of those in which something was said. */
  latestSessionId(options: { workspace?: string } = {}): Promise<string | undefined> {
    return latestSessionId(this.#paths.agentDir, options);
  }

  /** What a session recorded, in order. @throws {RookeryError} `session-not-found`, at the first `next()`. */
  readSession(sessionId: string): AsyncGenerator<TraceEntry> {
    return readSession(this.#paths.agentDir, sessionId);
  }

  /** A session as the lines of one portable file. @throws {RookeryError} `session-not-found`, `trace-corrupt`, at a `next()`. */
  exportSession(sessionId: string): AsyncGenerator<ExportEntry> {
    return exportSession(this.#paths.agentDir, sessionId);
  }

  /**
   * Writes an exported session as one of this agent's, wholly or not at all; nothing in it is run.
   *
   * @throws {RookeryError} `trace-corrupt`, `session-exists`, `root-unwritable`.
   */
  importSession(chunks: AsyncIterable<Uint8Array>, options: ImportOptions = {}): Promise<ImportedSession> {
    return importSession(this.#paths.agentDir, chunks, options);
  }

  /**
   * As `session.undo`, for a session that nobody has open. Its model reads of it when the session is resumed.
   *
   * @throws {RookeryError} `session-not-found`, `session-locked`, `trace-corrupt`, `config-invalid`, `workspace-missing`;
   *   `usage` for a task that is not on record.
   */
  async undoSession(
    sessionId: string,
    options: UndoOptions & Pick<SessionOptions, "undo" | "onWarning"> = {},
  ): Promise<UndoResult> {
    const files = await contextFiles(this.#paths.agentDir, sessionId);
    const paths = sessionPaths(this.#paths.agentDir, sessionId);
    const settings = undoSettings(options, await readProjectConfig(this.#paths.projectConfigFile));
    const onWarning = quietly(options.onWarning ?? this.#options.onWarning);
    return await locked(paths, (lock) =>
      undoOnRecord({ files, paths, lock, settings, env: this.#env, onWarning }, options),
    );
  }

  /**
   * Deletes a session: trace, scratchpad, undo, and the commands it left running.
   *
   * @throws {RookeryError} `session-not-found`, `session-locked`.
   */
  removeSession(sessionId: string): Promise<void> {
    return removeSession(this.#paths.agentDir, sessionId, (ownerFile) => new ProcessRegistry({ ownerFile }).dispose());
  }

  /** Disposes of every session that is still open, then of the agent's tool sources; may be called twice. */
  async dispose(): Promise<void> {
    this.#closed = true;
    const sources = this.#options.toolSources ?? [];
    const outcomes = [
      ...(await Promise.allSettled([...this.#open].map((session) => session.dispose()))),
      ...(await Promise.allSettled(sources.map(async (source) => source.dispose()))),
    ];
    for (const outcome of outcomes) {
      if (outcome.status === "fulfilled") continue;
      const message = `a part of the agent was not ended cleanly: ${errorText(outcome.reason)}`;
      quietly(this.#options.onWarning)({ code: "dispose-failed", message });
    }
    this.#debugLog?.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.dispose();
  }

  get #env(): NodeJS.ProcessEnv {
    return this.#options.env ?? process.env;
  }

  #assertOpen(): void {
    if (!this.#closed) return;
    throw new RookeryError("agent-closed", "the agent has been disposed of", { hint: "create it again" });
  }

  /** Remembers what `dispose` has to end; what was made while the agent was being disposed of is ended at once. */
  async #keep<T extends { dispose(): Promise<void> }>(made: T): Promise<T> {
    if (this.#closed) {
      await made.dispose();
      this.#assertOpen();
    }
    this.#open.add(made);
    return made;
  }
}
