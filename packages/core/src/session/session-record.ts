import { rmdirSync } from "node:fs";
import type { ContextLog } from "../engine/context-log.ts";
import type { OnWarning } from "../environment/contract.ts";
import { isType } from "../omnimessage/guards.ts";
import type { OmniMessage, SessionMetaPayload, TokenCounts } from "../omnimessage/message.ts";
import { isOnRecord } from "../omnimessage/on-record.ts";
import type { SessionLock } from "../trace/lock.ts";
import type { SessionPaths } from "../trace/session-paths.ts";
import { TraceWriter } from "../trace/trace-writer.ts";

/** A session's place on disk, held by this process: the lock, the trace, and the tail the next request depends on. */
export class SessionRecord {
  readonly paths: SessionPaths;
  readonly #lock: SessionLock;
  readonly #writer: TraceWriter;
  #log: ContextLog;
  #sessionUsage: TokenCounts | undefined;
  #head: readonly OmniMessage[];

  /**
   * @param lock - Of `paths.lockFile`; released with the record.
   * @param head - Written before the first record, so that a session which never says anything leaves no trace.
   */
  constructor(
    paths: SessionPaths,
    lock: SessionLock,
    head: readonly OmniMessage[],
    log: ContextLog,
    onWarning: OnWarning,
  ) {
    this.paths = paths;
    this.#lock = lock;
    this.#writer = TraceWriter.open(paths.traceDir, {
      onFailure: (error) => onWarning({ code: "trace-failed", message: error.message }),
    });
    this.#head = head;
    this.#log = log;
  }

  /** The file that records go to. */
  get file(): string {
    return this.#writer.file;
  }

  add(message: OmniMessage): void {
    if (!isOnRecord(message)) return;
    while (this.#head[0] && this.#writer.record(this.#head[0])) this.#head = this.#head.slice(1);
    this.#writer.record(message);
    this.#log.add(message);
    if (isType(message, "token_usage") && message.payload.source === undefined) {
      this.#sessionUsage = message.payload.session;
    }
  }

  /** What the session took, as its models counted; absent before the first request of this process. */
  get sessionUsage(): TokenCounts | undefined {
    return this.#sessionUsage;
  }

  /**
   * Starts the file of the next context.
   *
   * @param log - Of that context.
   * @returns False when the file cannot be written; records then go on to the file before.
   */
  startContext(meta: OmniMessage<SessionMetaPayload>, carried: readonly OmniMessage[], log: ContextLog): boolean {
    if (!this.#writer.startContext([meta, ...carried])) return false;
    this.#log = log;
    return true;
  }

  /** Gives the session up; one that recorded nothing leaves no directory. May be called twice. */
  close(): void {
    this.#writer.close();
    this.#lock.release();
    if (this.#head.length > 0) removeIfEmpty(this.paths.traceDir);
  }
}

function removeIfEmpty(directory: string): void {
  try {
    rmdirSync(directory);
  } catch {}
}
