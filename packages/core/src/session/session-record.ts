import { rmdirSync } from "node:fs";
import type { ContextLog } from "../engine/context-log.ts";
import type { OnWarning } from "../environment/contract.ts";
import type { OmniMessage, SessionMetaPayload } from "../omnimessage/message.ts";
import { isOnRecord } from "../omnimessage/on-record.ts";
import { acquireLock, type SessionLock } from "../trace/lock.ts";
import { type SessionPaths, sessionPaths } from "../trace/session-paths.ts";
import { TraceWriter } from "../trace/trace-writer.ts";

/** A session's place on disk, held by this process: the lock, the trace, and the tail the next request depends on. */
export class SessionRecord {
  readonly paths: SessionPaths;
  readonly #lock: SessionLock;
  readonly #writer: TraceWriter;
  readonly #log: ContextLog;
  #head: OmniMessage<SessionMetaPayload> | undefined;

  /**
   * @param head - Written before the first record; a session that never says anything leaves no trace.
   * @throws {RookeryError} `session-locked`, or `root-unwritable` when the directory cannot be made.
   */
  constructor(agentDir: string, head: OmniMessage<SessionMetaPayload>, log: ContextLog, onWarning: OnWarning) {
    this.paths = sessionPaths(agentDir, head.payload.session_id);
    this.#lock = acquireLock(this.paths.lockFile);
    this.#writer = TraceWriter.open(this.paths.traceDir, {
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
    if (this.#head && this.#writer.record(this.#head)) this.#head = undefined;
    this.#writer.record(message);
    this.#log.add(message);
  }

  /** Gives the session up; one that recorded nothing leaves no directory. May be called twice. */
  close(): void {
    this.#writer.close();
    this.#lock.release();
    if (this.#head) removeIfEmpty(this.paths.traceDir);
  }
}

function removeIfEmpty(directory: string): void {
  try {
    rmdirSync(directory);
  } catch {}
}
