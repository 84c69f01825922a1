import type { VetoFn } from "../approval/contract.ts";
import type { ApprovalRule } from "../approval/rule.ts";
import { vetoOf } from "../approval/veto.ts";
import { ContextLog } from "../engine/context-log.ts";
import type { ToolSide } from "../engine/engine.ts";
import type { ToolSource } from "../environment/contract.ts";
import { ProcessRegistry } from "../environment/process/process-registry.ts";
import type { SandboxSettings } from "../environment/sandbox/settings.ts";
import { findToolset } from "../environment/toolset-registry.ts";
import { quietly } from "../environment/warn-on-stderr.ts";
import { errorText } from "../errors/error-text.ts";
import { RookeryError } from "../errors/rookery-error.ts";
import type { DebugLog } from "../llm/network/debug-log.ts";
import { sessionMetaMessage } from "../omnimessage/build.ts";
import { ModelContext } from "../session/model-context.ts";
import { Session } from "../session/session.ts";
import { SessionRecord } from "../session/session-record.ts";
import { ToolRunner } from "../session/tool-runner.ts";
import { type ExportEntry, exportSession } from "../trace/export-session.ts";
import { type ImportedSession, type ImportOptions, importSession } from "../trace/import-session.ts";
import type { TraceEntry } from "../trace/read-trace.ts";
import { newSessionId } from "../trace/session-id.ts";
import { sessionPaths } from "../trace/session-paths.ts";
import { latestSessionId, listSessions, readSession, removeSession } from "../trace/session-store.ts";
import type { SessionSummary } from "../trace/session-summary.ts";
import type { AgentOptions, Injection, SessionOptions } from "./agent-options.ts";
import { addRules } from "./edit-rules.ts";
import { modelFetch, openDebugFile } from "./model-fetch.ts";
import { type AgentPaths, agentPaths, dataRoot } from "./paths.ts";
import { readProjectConfig } from "./project-config.ts";
import { type SessionModel, sessionModel } from "./session-model.ts";
import { sandboxSettings, sessionSandbox } from "./session-sandbox.ts";
import { sharedSource } from "./shared-source.ts";
import { defaultSystemPrompt } from "./system-prompt.ts";
import { type ToolPlace, toolSide } from "./tool-side.ts";
import { openWorkspace } from "./workspace.ts";

/**
 * Opens an agent. Until agents are files it needs none and writes nothing but the traces and scratchpads of its sessions.
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
  readonly #sources: readonly ToolSource[];
  readonly #open = new Set<{ dispose(): Promise<void> }>();
  #closed = false;

  constructor(options: AgentOptions, paths: AgentPaths, debugLog?: DebugLog) {
    this.#options = options;
    this.#paths = paths;
    this.#debugLog = debugLog;
    this.#sources = (options.toolSources ?? []).map(sharedSource);
  }

  /**
   * Makes a session; no network, no process.
   *
   * @throws {RookeryError} `usage`, `model-missing`, `model-auth`, `config-invalid`, `workspace-missing`,
   *   `root-unwritable`, `sandbox-unavailable`, `tool-duplicate`, `agent-closed`.
   */
  async createSession(options: SessionOptions = {}): Promise<Session> {
    this.#assertOpen();
    const createLLM = options.createLLM ?? this.#options.createLLM;
    const fetchFor = (baseUrl: string): typeof fetch =>
      modelFetch(baseUrl, options.fetch ?? this.#options.fetch, this.#env, this.#debugLog, options.requestTimeoutMs);
    const model = await sessionModel(options, createLLM, this.#paths.projectConfigFile, this.#env, fetchFor);
    const veto = await this.#veto();
    const settings = await this.#sandboxSettings(options);
    const workspace = await openWorkspace(options.workspaceDir, this.#paths.workspacesDir);
    try {
      return this.#keep(await this.#assemble(options, model, veto, workspace.path, settings));
    } catch (error) {
      await workspace.abandon();
      throw error;
    }
  }

  /** Makes a runner of single tools: the session's environment without a model and without a record. */
  async createToolRunner(options: Pick<SessionOptions, "workspaceDir"> & Injection = {}): Promise<ToolRunner> {
    this.#assertOpen();
    const veto = await this.#veto();
    const settings = await this.#sandboxSettings(options);
    const { path: workspaceDir } = await openWorkspace(options.workspaceDir, this.#paths.workspacesDir);
    const { scratchpadDir } = sessionPaths(this.#paths.agentDir, newSessionId());
    const sandbox = sessionSandbox(settings, this.#paths, { workspaceDir, scratchpadDir });
    const commandSessions = new ProcessRegistry({ confine: sandbox.sandbox?.confine });
    const tools = this.#toolSide(options, veto, {
      workspaceDir,
      scratchpadDir,
      vision: false,
      commandSessions,
      sandbox,
    });
    return this.#keep(new ToolRunner(tools, (runner) => this.#open.delete(runner)));
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

  /** Read when a session is made, and kept for its life. */
  async #veto(): Promise<VetoFn> {
    const { command_policy: policy, rules = [] } = await readProjectConfig(this.#paths.projectConfigFile);
    return (tool, context) => vetoOf({ rules, ...(policy && { policy }) }, tool, context);
  }

  #sandboxSettings(options: Injection): Promise<SandboxSettings> {
    return sandboxSettings({ ...this.#options, ...options }.sandbox, this.#paths.userConfigFile);
  }

  #toolSide(options: Injection, veto: VetoFn, place: ToolPlace): ToolSide {
    const sources = options.toolSources ?? this.#sources;
    return toolSide({ ofAgent: this.#options, ofSession: options, sources, paths: this.#paths, veto, place });
  }

  async #assemble(
    options: SessionOptions,
    model: SessionModel,
    veto: VetoFn,
    workspaceDir: string,
    settings: SandboxSettings,
  ): Promise<Session> {
    const sessionId = newSessionId();
    const { scratchpadDir, processesFile } = sessionPaths(this.#paths.agentDir, sessionId);
    const sandbox = sessionSandbox(settings, this.#paths, { workspaceDir, scratchpadDir });
    const systemPrompt = options.systemPrompt ?? (await defaultSystemPrompt(workspaceDir, { sandbox: sandbox.notice }));
    const meta = sessionMetaMessage({
      session_id: sessionId,
      provider: model.provider,
      model_id: model.modelId,
      model_context_window: model.contextWindow,
      system_prompt: systemPrompt,
      agent_state: this.#paths.agentStateDir,
      workspace: workspaceDir,
      ...(options.source !== undefined && { source: options.source }),
    });
    const onWarning = quietly(options.onWarning ?? this.#options.onWarning);
    const commandSessions = new ProcessRegistry({
      ownerFile: processesFile,
      onWarning,
      confine: sandbox.sandbox?.confine,
    });
    const { vision } = model;
    const tools = this.#toolSide(options, veto, { workspaceDir, scratchpadDir, vision, commandSessions, sandbox });
    const log = new ContextLog();
    const { maxTurns = 0 } = options;
    const record = new SessionRecord(this.#paths.agentDir, meta, log, tools.onWarning);
    // Of a process that was killed while it had this session open; the lock says that it is gone.
    await commandSessions.endLeftovers();
    return new Session({
      meta,
      record,
      context: new ModelContext({
        tools,
        log,
        createModel: (offered) => model.create({ systemPrompt, tools: offered }),
      }),
      maxTurns: maxTurns > 0 ? maxTurns : undefined,
      ...(model.key && { key: model.key }),
      ...(model.pricing && { pricing: model.pricing }),
      onDisposed: (session) => this.#open.delete(session),
    });
  }
}
