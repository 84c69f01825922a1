import type { CompactionSettings } from "../engine/compaction/settings.ts";
import type { NamedModel } from "../engine/engine.ts";
import { isType } from "../omnimessage/guards.ts";
import type { CompletePayload, OmniMessage } from "../omnimessage/message.ts";
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
 * were given for the session's model are not those of another provider, which would get its key; nor is its level of thinking
 * that of another model.
 *
 * @param own - The session's model.
 */
export function summaryModelOptions(
  options: SessionOptions,
  { compaction }: ProjectConfig,
  own: Pick<SessionModel, "provider" | "modelId">,
): SessionOptions | undefined {
  const stored = compaction?.model && { provider: compaction.model.provider, modelId: compaction.model.model_id };
  const name = options.compaction?.model ?? stored;
  if (!name || isSame(name, own)) return name && { ...options, ...name };
  const { baseUrl, clientType, thinkingLevel: _level, ...others } = options;
  const address = name.provider === own.provider && { ...(baseUrl && { baseUrl }), ...(clientType && { clientType }) };
  return { ...others, ...address, ...name };
}

/** A model that only summarises: it is offered no tools, and of another model not the thinking and what goes with it. */
export function summaryModel(
  { provider, modelId, create }: SessionModel,
  own: Pick<SessionModel, "provider" | "modelId">,
  systemPrompt: string,
): NamedModel {
  const suited = isSame({ provider, modelId }, own) ? (history: readonly OmniMessage[]) => history : withoutThinking;
  return {
    name: `${provider}/${modelId}`,
    open: (history) => create({ systemPrompt, tools: [] }, suited(history)),
  };
}

function isSame(a: Pick<SessionModel, "provider" | "modelId">, b: Pick<SessionModel, "provider" | "modelId">): boolean {
  return a.provider === b.provider && a.modelId === b.modelId;
}

function withoutThinking(history: readonly OmniMessage[]): OmniMessage[] {
  return history
    .filter((message) => !isType(message, "thinking") && !isType(message, "inline_thinking"))
    .map((message) => {
      const { fidelity: _fidelity, ...payload } = message.payload as CompletePayload;
      return { ...message, payload: payload as OmniMessage["payload"] };
    });
}
