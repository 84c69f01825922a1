import type { ContextLog } from "../context-log.ts";
import type { CompactionPlan } from "./settings.ts";

/** By how much a summarised context must grow before it is summarised again, if its first request was too long already. */
const PROGRESS = 1.2;

/** Why a context must be compacted now; absent: it need not be. */
export function compactionDue(log: ContextLog, plan: CompactionPlan): "context" | "turns" | undefined {
  const { maxContextTokens, maxSessionTurns } = plan;
  if (log.turns === 0) return undefined;
  if (maxContextTokens !== undefined && log.tokens >= maxContextTokens && !isHopeless(log, maxContextTokens))
    return "context";
  return maxSessionTurns !== undefined && log.turns >= maxSessionTurns ? "turns" : undefined;
}

/** True where a summary was made and the first request after it was as long as before: another one would be, too. */
export function isHopeless({ isSummarised, firstTokens, tokens }: ContextLog, maxContextTokens: number): boolean {
  return isSummarised && firstTokens >= maxContextTokens && tokens < firstTokens * PROGRESS;
}
