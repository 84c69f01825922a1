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

/**
 * What leads to the model that is named for summaries; absent: the session's own makes them. An address and a protocol that
 * were given for the session's model are not those of another provider, which would get its key.
 *
 * @param ownProvider - Of the session's model.
 */
export function summaryModelOptions(
  options: SessionOptions,
  { compaction }: ProjectConfig,
  ownProvider: string,
): SessionOptions | undefined {
  const stored = compaction?.model && { provider: compaction.model.provider, modelId: compaction.model.model_id };
  const name = options.compaction?.model ?? stored;
  const { baseUrl: _baseUrl, clientType: _clientType, ...others } = options;
  return name && { ...(name.provider === ownProvider ? options : others), ...name };
}

/** A model that only summarises: it is offered no tools. */
export function summaryModel({ provider, modelId, create }: SessionModel, systemPrompt: string): NamedModel {
  return {
    name: `${provider}/${modelId}`,
    open: (history) => create({ systemPrompt, tools: [] }, history),
  };
}
