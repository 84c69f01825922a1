/** Whether, and how much of, what the tasks of a session change is kept so that it can be undone. */
export interface UndoSettings {
  /** Default true. */
  readonly enabled?: boolean;
  /** Of one session, all that is kept together; default 512 MiB. */
  readonly maxBytes?: number;
  /** A longer file is not kept; default 64 MiB. */
  readonly maxFileBytes?: number;
}

export interface UndoLimits {
  readonly maxBytes: number;
  readonly maxFileBytes: number;
}

const MIB = 1024 * 1024;

export function undoLimits({ maxBytes = 512 * MIB, maxFileBytes = 64 * MIB }: UndoSettings = {}): UndoLimits {
  return { maxBytes, maxFileBytes };
}
