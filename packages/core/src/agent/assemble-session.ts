import { BackgroundNotices } from "../engine/background-notices.ts";
import { type CompactionSettings, planCompaction } from "../engine/compaction/settings.ts";
import { ContextLog } from "../engine/context-log.ts";
import type { NamedModel, ToolSide } from "../engine/engine.ts";
import { ToolOffer } from "../engine/tool-offer.ts";
import type { OnWarning } from "../environment/contract.ts";
import { FileGuard } from "../environment/files/file-guard.ts";
import { ProcessRegistry } from "../environment/process/process-registry.ts";
import { createToolCallIdAllocator } from "../llm/tool-call-ids.ts";
import type { OmniMessage, SessionMetaPayload } from "../omnimessage/message.ts";
import { ModelContext } from "../session/model-context.ts";
import type { RestoredSession } from "../session/resume/restore-session.ts";
import { Session } from "../session/session.ts";
import { SessionRecord } from "../session/session-record.ts";
import { SessionUndo } from "../session/undo/session-undo.ts";
import type { UndoSettings } from "../session/undo/settings.ts";
import type { SessionLock } from "../trace/lock.ts";
import { harnessDirectories, type SessionPaths } from "../trace/session-paths.ts";
import type { SessionModel } from "./session-model.ts";
import type { SessionSandbox } from "./session-sandbox.ts";
import type { ToolPlace } from "./tool-side.ts";

/** What a session is assembled from. */
export interface Assembly {
  readonly meta: OmniMessage<SessionMetaPayload>;
  readonly paths: SessionPaths;
  /** Released with the session. */
  readonly lock: SessionLock;
  readonly model: SessionModel;
  readonly sandbox: SessionSandbox;
  /** Makes its tools. */
  readonly toolSide: (place: ToolPlace) => Promise<ToolSide>;
  /** Of one task; absent or zero or less: no limit. */
  readonly maxTurns?: number | undefined;
  readonly compaction: CompactionSettings;
  /** Who summarises; absent: the session's own model. */
  readonly summaryModel?: NamedModel;
  readonly undo: UndoSettings;
  readonly env: NodeJS.ProcessEnv;
  readonly onWarning: OnWarning;
  readonly onDisposed: (session: Session) => void;
  /** What its trace says; absent for a new session. */
  readonly restored?: RestoredSession;
}

/** Puts a session together: its record, its tools and its model context, new or as they were left. */
export async function assembleSession(parts: Assembly): Promise<Session> {
  const { meta, paths, lock, model, sandbox, restored, onWarning, maxTurns = 0 } = parts;
  const { system_prompt: systemPrompt, workspace: workspaceDir } = meta.payload;
  const { memory } = restored ?? {};
  const commandSessions = new ProcessRegistry({
    ownerFile: paths.processesFile,
    onWarning,
    confine: sandbox.sandbox?.confine,
  });
  const undo = new SessionUndo({
    undoDir: paths.undoDir,
    workspaceDir,
    mayHaveChanged: memory?.mayHaveChanged ?? false,
    apart: harnessDirectories(paths),
    settings: parts.undo,
    env: parts.env,
    onWarning,
  });
  const files = new FileGuard(memory?.seenFiles, (path, sha256) => undo.beforeChange(path, sha256));
  const toolSide = await parts.toolSide({
    workspaceDir,
    scratchpadDir: paths.scratchpadDir,
    vision: model.vision,
    commandSessions,
    sandbox,
    files,
    offer: new ToolOffer(memory?.introduced, restored?.tools),
  });
  const tools: ToolSide = { ...toolSide, beforeExecution: (assessment) => undo.beforeExecution(assessment) };
  const log = restored?.log ?? new ContextLog();
  const head = restored ? restored.ending : [meta];
  const record = new SessionRecord(paths, lock, head, log, tools.onWarning);
  // Of a process that was killed while it had this session open; the lock says that it is gone.
  await commandSessions.endLeftovers();
  const toolCallIds = createToolCallIdAllocator(memory?.callIds);
  return new Session({
    meta,
    record,
    context: new ModelContext({
      meta: meta.payload,
      tools,
      record,
      log,
      compaction: planCompaction(parts.compaction, meta.payload.model_context_window),
      sessionUsage: memory?.spent.usage,
      createModel: ({ history, ...start }) => model.create({ ...start, systemPrompt, toolCallIds }, history),
      ...(parts.summaryModel && { summaryModel: parts.summaryModel }),
    }),
    background: new BackgroundNotices([commandSessions.sessions], memory?.lostCommands.reports),
    undo,
    onRestored: (path, sha256) => (sha256 === undefined ? files.forget(path) : files.remember(path, sha256)),
    maxTurns: maxTurns > 0 ? maxTurns : undefined,
    vision: model.vision === true,
    ...(memory && { spent: memory.spent }),
    ...(model.key && { key: model.key }),
    ...(model.pricing && { pricing: model.pricing }),
    onDisposed: parts.onDisposed,
    onWarning: tools.onWarning,
  });
}
