import type { CompactionSettings } from "../engine/compaction/settings.ts";
import type { NamedModel } from "../engine/engine.ts";
import type { SessionOptions } from "./agent-options.ts";
import type { ProjectConfig } from "./project-config.ts";
import type { SessionModel } from "./session-model.ts";

/** How sessions make room: what the caller says goes before what the files say, one by one. */
export function compactionSettings(options: SessionOptions, { compaction = {} }: ProjectConfig): CompactionSettings {
  const { max_context_length, max_session_turns, mode, prompt, keep_recent_tokens, keep_output_tokens } = compaction;
  return {
    ...(max_context_length !== undefined && { maxContextTokens: max_context_length }),
    ...(max_session_turns !== undefined && { maxSessionTurns: max_session_turns }),
    ...(mode !== undefined && { mode }),
    ...(prompt !== undefined && { prompt }),
    ...(keep_recent_tokens !== undefined && { keepRecentTokens: keep_recent_tokens }),
    ...(keep_output_tokens !== undefined && { keepOutputTokens: keep_output_tokens }),
    ...options.compaction,
  };
}

/** The model that is named for summaries; absent: the session's own makes them. */
export function summaryModelName(
  options: SessionOptions,
  { compaction }: ProjectConfig,
): { readonly provider: string; readonly modelId: string } | undefined {
  if (options.compaction?.model) return options.compaction.model;
  const model = compaction?.model;
  return model && { provider: model.provider, modelId: model.model_id };
}

/** A model that only summarises: it is offered no tools. */
export function summaryModel({ provider, modelId, create }: SessionModel, systemPrompt: string): NamedModel {
  return {
    name: `${provider}/${modelId}`,
    open: (history) => create({ systemPrompt, tools: [] }, history),
  };
}
