import { vetoOf } from "../approval/veto.ts";
import type { ToolSide } from "../engine/engine.ts";
import type { ToolSource } from "../environment/contract.ts";
import { ProcessRegistry } from "../environment/process/process-registry.ts";
import type { SandboxSettings } from "../environment/sandbox/settings.ts";
import { quietly } from "../environment/warn-on-stderr.ts";
import { RookeryError } from "../errors/rookery-error.ts";
import type { DebugLog } from "../llm/network/debug-log.ts";
import { sessionMetaMessage } from "../omnimessage/build.ts";
import type { OmniMessage, SessionMetaPayload } from "../omnimessage/message.ts";
import { restoreSession } from "../session/resume/restore-session.ts";
import type { Session } from "../session/session.ts";
import { ToolRunner } from "../session/tool-runner.ts";
import { newSessionId } from "../trace/session-id.ts";
import { sessionPaths } from "../trace/session-paths.ts";
import { contextFiles } from "../trace/session-store.ts";
import type { AgentOptions, Injection, SessionOptions } from "./agent-options.ts";
import { type Assembly, assembleSession } from "./assemble-session.ts";
import { chooseTools } from "./choose-tools.ts";
import { compactionSettings, summaryModel, summaryModelOptions } from "./compaction-options.ts";
import { modelFetch } from "./model-fetch.ts";
import type { AgentPaths } from "./paths.ts";
import { checkResumeOptions } from "./resume-options.ts";
import { readSessionConfig, type SessionConfig } from "./session-config.ts";
import { locked } from "./session-lock.ts";
import { type SessionModel, sessionModel } from "./session-model.ts";
import { type SessionSandbox, sandboxSettings, sessionSandbox } from "./session-sandbox.ts";
import { sharedSource } from "./shared-source.ts";
import { defaultSystemPrompt } from "./system-prompt.ts";
import { type ToolPlace, toolSide } from "./tool-side.ts";
import { undoSettings } from "./undo-options.ts";
import { visionDescriber } from "./vision-describer.ts";
import { openWorkspace } from "./workspace.ts";

/** What a runner of single tools may be given. */
export type ToolRunnerOptions = Pick<SessionOptions, "workspaceDir"> & Injection;

/** Makes the sessions of one agent from what configuration, options and, for a resumed one, the trace say. */
export class SessionOpener {
  readonly #options: AgentOptions;
  readonly #paths: AgentPaths;
  readonly #debugLog: DebugLog | undefined;
  readonly #sources: readonly ToolSource[];
  readonly #onDisposed: (made: Session | ToolRunner) => void;

  /** @param onDisposed - Told when what was made has been given up. */
  constructor(
    options: AgentOptions,
    paths: AgentPaths,
    debugLog: DebugLog | undefined,
    onDisposed: (made: Session | ToolRunner) => void,
  ) {
    this.#options = options;
    this.#paths = paths;
    this.#debugLog = debugLog;
    this.#onDisposed = onDisposed;
    this.#sources = (options.toolSources ?? []).map(sharedSource);
  }

  /** See `Agent.createSession`. */
  async create(options: SessionOptions): Promise<Session> {
    const model = await this.#model(options);
    const config = await readSessionConfig(this.#paths);
    const settings = await this.#sandboxSettings(options);
    const workspace = await openWorkspace(options.workspaceDir, this.#paths.workspacesDir);
    const sessionId = newSessionId();
    const paths = sessionPaths(this.#paths.agentDir, sessionId);
    try {
      const place = { workspaceDir: workspace.path, scratchpadDir: paths.scratchpadDir };
      const sandbox = sessionSandbox(settings, this.#paths, place);
      const meta = sessionMetaMessage({
        session_id: sessionId,
        provider: model.provider,
        model_id: model.modelId,
        model_context_window: model.contextWindow,
        system_prompt: options.systemPrompt ?? (await this.#prompt(workspace.path, sandbox)),
        agent_state: this.#paths.agentStateDir,
        workspace: workspace.path,
        ...(options.source !== undefined && { source: options.source }),
      });
      return await locked(paths, (lock) => this.#assemble(options, { meta, paths, lock, model, sandbox }, config));
    } catch (error) {
      await workspace.abandon();
      throw error;
    }
  }

  /** See `Agent.resumeSession`. */
  async resume(sessionId: string, options: SessionOptions): Promise<Session> {
    const { agentDir, workspacesDir } = this.#paths;
    const files = await contextFiles(agentDir, sessionId);
    const paths = sessionPaths(agentDir, sessionId);
    return locked(paths, async (lock) => {
      const restored = await restoreSession(files);
      const { provider, model_id: modelId, workspace } = restored.meta;
      await checkResumeOptions(sessionId, restored.meta, options);
      const onWarning = quietly(options.onWarning ?? this.#options.onWarning);
      for (const message of restored.damage) onWarning({ code: "trace-damaged", message });
      const model = await this.#model({ ...options, provider, modelId });
      await openWorkspace(workspace, workspacesDir, "put it back to resume its session, or start a new one");
      const meta: OmniMessage<SessionMetaPayload> = { timestamp: "", type: "session_meta", payload: restored.meta };
      const place = { workspaceDir: workspace, scratchpadDir: paths.scratchpadDir };
      const sandbox = sessionSandbox(await this.#sandboxSettings(options), this.#paths, place);
      const parts = { meta, paths, lock, model, sandbox, restored };
      return this.#assemble(options, parts, await readSessionConfig(this.#paths));
    });
  }

  /** See `Agent.createToolRunner`. */
  async toolRunner(options: ToolRunnerOptions): Promise<ToolRunner> {
    const config = await readSessionConfig(this.#paths);
    const settings = await this.#sandboxSettings(options);
    const { path: workspaceDir } = await openWorkspace(options.workspaceDir, this.#paths.workspacesDir);
    const { scratchpadDir } = sessionPaths(this.#paths.agentDir, newSessionId());
    const sandbox = sessionSandbox(settings, this.#paths, { workspaceDir, scratchpadDir });
    const commandSessions = new ProcessRegistry({ confine: sandbox.sandbox?.confine });
    const place: ToolPlace = { workspaceDir, scratchpadDir, vision: "unknown", commandSessions, sandbox };
    const tools = await this.#toolSide(options, config, place);
    const { definitions } = chooseTools(options.toolset ?? this.#options.toolset, config.agent);
    return new ToolRunner(tools, definitions, this.#onDisposed);
  }

  get #env(): NodeJS.ProcessEnv {
    return this.#options.env ?? process.env;
  }

  #model(options: SessionOptions): Promise<SessionModel> {
    const createLLM = options.createLLM ?? this.#options.createLLM;
    return sessionModel(options, createLLM, this.#paths.projectConfigFile, this.#env, this.#fetchFor(options));
  }

  async #summaryModel(options: SessionOptions | undefined): Promise<SessionModel | undefined> {
    try {
      return options && (await this.#model(options));
    } catch (error) {
      if (!RookeryError.is(error)) throw error;
      // What could be given for the session's own model does not reach this one.
      throw new RookeryError(error.code, `the model for summaries (compaction.model): ${error.message}`, {
        hint: "store its address and its key with rookery config model add PROVIDER/MODEL_ID, or leave compaction.model out",
      });
    }
  }

  #prompt(workspaceDir: string, sandbox: SessionSandbox): Promise<string> {
    return defaultSystemPrompt(workspaceDir, { agentStateDir: this.#paths.agentStateDir, sandbox: sandbox.notice });
  }

  #sandboxSettings(options: Injection): Promise<SandboxSettings> {
    return sandboxSettings({ ...this.#options, ...options }.sandbox, this.#paths.userConfigFile);
  }

  #fetchFor(options: Pick<SessionOptions, "fetch">): (baseUrl: string) => typeof fetch {
    const given = options.fetch ?? this.#options.fetch;
    return (baseUrl) => modelFetch(baseUrl, given, this.#env, this.#debugLog);
  }

  #toolSide(options: Injection, { project, agent: system }: SessionConfig, place: ToolPlace): Promise<ToolSide> {
    const { command_policy: policy, rules = [], images } = project;
    const { projectConfigFile } = this.#paths;
    return toolSide({
      ofAgent: this.#options,
      ofSession: options,
      system,
      sources: options.toolSources ?? this.#sources,
      paths: this.#paths,
      veto: (tool, context) => vetoOf({ rules, ...(policy && { policy }) }, tool, context),
      env: this.#env,
      place,
      images: { allowPrivateAddresses: images?.allow_private_addresses === true, env: this.#env },
      visionDescriber: visionDescriber(project, {
        projectConfigFile,
        env: this.#env,
        fetchFor: this.#fetchFor(options),
      }),
    });
  }

  async #assemble(
    options: SessionOptions,
    parts: Pick<Assembly, "meta" | "paths" | "lock" | "model" | "sandbox" | "restored">,
    config: SessionConfig,
  ): Promise<Session> {
    const { project, agent: system } = config;
    const summary = await this.#summaryModel(summaryModelOptions(options, project, parts.model));
    return assembleSession({
      ...parts,
      compaction: compactionSettings(options, project),
      ...(summary && { summaryModel: summaryModel(summary, parts.model, parts.meta.payload.system_prompt) }),
      undo: undoSettings(options, project),
      env: this.#env,
      maxTurns: options.maxTurns ?? system.max_turns,
      toolSide: (place) => this.#toolSide(options, config, place),
      onWarning: quietly(options.onWarning ?? this.#options.onWarning),
      onDisposed: this.#onDisposed,
    });
  }
}
