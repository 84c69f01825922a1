import { SUMMARY_PROMPT } from "./summary-text.ts";

/** When and how a session makes room in its model context. */
export interface CompactionSettings {
  /**
   * In tokens: a context whose last request took as many is compacted. Default 256000, zero or less: never; in any case at
   * 2048 less than the model's window, which counts as 128000 where it is not known.
   */
  readonly maxContextTokens?: number;
  /** A context with so many requests is compacted; default, and zero or less: no limit. */
  readonly maxSessionTurns?: number;
  /** A summary in place of the conversation (default), or nothing. */
  readonly mode?: "summarize" | "discard";
  /** What the model is asked for its summary with. */
  readonly prompt?: string;
  /** The latest turns that stay as they are, in tokens; default 0, and never more than half of what the context may take. */
  readonly keepRecentTokens?: number;
  /**
   * Before anything is summarised, tool outputs older than the latest of so many tokens are shortened; default 40000, less
   * than zero: they are not.
   */
  readonly keepOutputTokens?: number;
}

/** The same with nothing left open. */
export interface CompactionPlan {
  /** In tokens; absent: never. */
  readonly maxContextTokens?: number;
  readonly maxSessionTurns?: number;
  readonly mode: "summarize" | "discard";
  readonly prompt: string;
  readonly keepRecentTokens: number;
  /** Absent: outputs are not shortened. */
  readonly keepOutputTokens?: number;
  /** Of the model, in tokens. */
  readonly contextWindow: number;
}

const DEFAULT_MAX_CONTEXT_TOKENS = 256_000;
const DEFAULT_KEEP_OUTPUT_TOKENS = 40_000;
const ASSUMED_WINDOW_TOKENS = 128_000;
/** Room for the request that makes the summary. */
const RESERVE_TOKENS = 2_048;
/** Of a context, for the turns that are kept: more of them, and the next context would be as full as the one before. */
const KEPT_SHARE = 0.5;

/** @param contextWindow - Of the model, in tokens. */
export function planCompaction(settings: CompactionSettings, contextWindow: number | "unknown"): CompactionPlan {
  const window = contextWindow === "unknown" ? ASSUMED_WINDOW_TOKENS : contextWindow;
  const { maxContextTokens = DEFAULT_MAX_CONTEXT_TOKENS, keepOutputTokens = DEFAULT_KEEP_OUTPUT_TOKENS } = settings;
  const { maxSessionTurns = 0 } = settings;
  const limit = Math.min(maxContextTokens, window - RESERVE_TOKENS);
  return {
    ...(limit > 0 && { maxContextTokens: limit }),
    ...(maxSessionTurns > 0 && { maxSessionTurns }),
    mode: settings.mode ?? "summarize",
    prompt: settings.prompt?.trim() || SUMMARY_PROMPT,
    keepRecentTokens: Math.max(Math.min(settings.keepRecentTokens ?? 0, (limit > 0 ? limit : window) * KEPT_SHARE), 0),
    ...(keepOutputTokens >= 0 && { keepOutputTokens }),
    contextWindow: window,
  };
}
