import { realpath } from "node:fs/promises";
import { resolve } from "node:path";
import { RookeryError } from "../errors/rookery-error.ts";
import type { SessionMetaPayload } from "../omnimessage/message.ts";
import type { SessionOptions } from "./agent-options.ts";
import { modelPair } from "./model-name.ts";

/** Refuses what contradicts the session that is resumed. @throws {RookeryError} `usage`. */
export async function checkResumeOptions(
  sessionId: string,
  meta: SessionMetaPayload,
  options: SessionOptions,
): Promise<void> {
  const pair = modelPair(options);
  const own = `${meta.provider}/${meta.model_id}`;
  const asked = pair && `${pair.provider}/${pair.modelId}`;
  if (asked !== undefined && asked !== own) throw contradiction(sessionId, "model", asked, own);
  const { workspaceDir, systemPrompt } = options;
  if (workspaceDir !== undefined && (await realPathOf(workspaceDir)) !== (await realPathOf(meta.workspace))) {
    throw contradiction(sessionId, "workspace", workspaceDir, meta.workspace);
  }
  if (systemPrompt !== undefined && systemPrompt !== meta.system_prompt) {
    throw new RookeryError("usage", `session ${sessionId} has a system prompt already, and another one was given`, {
      hint: "leave it out, or start a new session",
    });
  }
}

/** Links may lead to it that were not there when the session was made. */
async function realPathOf(path: string): Promise<string> {
  return realpath(path).catch(() => resolve(path));
}

function contradiction(sessionId: string, what: string, asked: string, own: string): RookeryError {
  return new RookeryError("usage", `the ${what} of session ${sessionId} is ${own}, but ${asked} was asked for`, {
    hint: `leave the ${what} out to resume it, or start a new session`,
  });
}
