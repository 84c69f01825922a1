import type {
  ApprovalRule,
  createAgent,
  ModelPricing,
  OmniMessage,
  RunOptions,
  RunOutcome,
  Session,
  SessionSummary,
  ToolDefinition,
  TraceEntry,
  UndoResult,
} from "@rookery/core";

/** What a fake agent does, in place of models and tools. */
export interface AgentScript {
  run?(input: readonly OmniMessage[], options: RunOptions): AsyncGenerator<OmniMessage, RunOutcome>;
  call?(name: string, argumentsJson: string, options: RunOptions): AsyncGenerator<OmniMessage, void>;
  readonly tools?: readonly ToolDefinition[];
  readonly pricing?: ModelPricing;
  readonly vision?: boolean;
  /** What runs in the background. */
  readonly background?: ReturnType<Session["listBackgroundCommands"]>;
  readonly rules?: readonly ApprovalRule[];
  readonly sessions?: readonly SessionSummary[];
  readonly record?: readonly TraceEntry[];
  undo?(): UndoResult;
  /** Thrown when a session or a runner is asked for. */
  readonly failure?: Error;
  /** Thrown when the session of this id is removed. */
  readonly failures?: Readonly<Record<string, Error>>;
}

export interface FakeAgent {
  readonly createAgent: typeof createAgent;
  /** What was asked of it, and disposed of, in order. */
  readonly log: unknown[][];
}

export function fakeAgent(script: AgentScript): FakeAgent {
  const log: unknown[][] = [];
  const agent = {
    dispose: async () => void log.push(["agent disposed"]),
    async createSession(options: unknown) {
      log.push(["createSession", options]);
      if (script.failure) throw script.failure;
      const meta = { provider: "custom", model_id: "local" };
      const { run, pricing, vision = false } = script;
      const session = { sessionId: "session-1", traceFile: "/traces/001.jsonl", meta, run, pricing, vision };
      return { ...session, listBackgroundCommands: () => script.background ?? [] };
    },
    async resumeSession(id: string, options: unknown) {
      log.push(["resumeSession", id, options]);
      const meta = { provider: "custom", model_id: "local" };
      const session = { sessionId: id, traceFile: "/traces/001.jsonl", meta, run: script.run, pricing: script.pricing };
      return { ...session, listBackgroundCommands: () => [] };
    },
    async latestSessionId(options: unknown) {
      log.push(["latestSessionId", options]);
      return script.sessions?.[0]?.id;
    },
    async createToolRunner(options: unknown) {
      log.push(["createToolRunner", options]);
      if (script.failure) throw script.failure;
      return { listTools: async () => script.tools ?? [], call: script.call };
    },
    rules: async () => script.rules ?? [],
    addRules: async (rules: unknown) => void log.push(["addRules", rules]),
    listSessions: async () => script.sessions ?? [],
    async *readSession(id: string) {
      log.push(["readSession", id]);
      yield* script.record ?? [];
    },
    async undoSession(id: string, options: unknown) {
      log.push(["undoSession", id, options]);
      return script.undo?.();
    },
    async removeSession(id: string) {
      log.push(["removeSession", id]);
      const failure = script.failures?.[id] ?? script.failure;
      if (failure) throw failure;
    },
  };
  // The real types are classes with private parts; a fake can only claim to be one.
  const create = async (options: unknown) => {
    log.push(["createAgent", options]);
    return agent;
  };
  return { createAgent: create as unknown as typeof createAgent, log };
}

/** How a run ended; completed with no text where nothing else is said. */
export function outcome(changes: Partial<RunOutcome> = {}): RunOutcome {
  const usage = { cache_read: 0, cache_write: 0, output: 0, total: 0 };
  return { status: "completed", text: "", turns: 1, usage, denied: [], ...changes };
}
