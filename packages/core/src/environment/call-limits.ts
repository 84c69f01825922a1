import type { ToolDefinitionConfig } from "./contract.ts";

/** What one call may take and show. */
export interface CallLimits {
  /** Absent: none. */
  readonly timeoutMs?: number;
  readonly maxOutputChars: number;
  readonly truncation: "head" | "head_tail";
}

const DEFAULT_TIMEOUT_MS = 120_000;
const DEFAULT_MAX_OUTPUT_CHARS = 16_000;
/** What "no cap" means: JavaScript can hold no string twice as long. */
const NO_CAP_CHARS = 2 ** 28;

/** The limits of a definition; zero or less means none (PT-077 to PT-079). */
export function callLimits(definition: Partial<ToolDefinitionConfig>): CallLimits {
  const {
    timeoutMs = DEFAULT_TIMEOUT_MS,
    maxOutputLength = DEFAULT_MAX_OUTPUT_CHARS,
    truncation = "head",
  } = definition;
  return {
    ...(timeoutMs > 0 && { timeoutMs }),
    maxOutputChars: maxOutputLength > 0 ? Math.min(Math.floor(maxOutputLength), NO_CAP_CHARS) : NO_CAP_CHARS,
    truncation,
  };
}
