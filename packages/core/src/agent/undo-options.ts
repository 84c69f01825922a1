import type { UndoSettings } from "../session/undo/settings.ts";
import type { SessionOptions } from "./agent-options.ts";
import type { ProjectConfig } from "./project-config.ts";

/** What undo keeps: what the caller says goes before what the project says, one by one. */
export function undoSettings(options: Pick<SessionOptions, "undo">, { undo = {} }: ProjectConfig): UndoSettings {
  const { enabled, max_bytes, max_file_bytes } = undo;
  return {
    ...(enabled !== undefined && { enabled }),
    ...(max_bytes !== undefined && { maxBytes: max_bytes }),
    ...(max_file_bytes !== undefined && { maxFileBytes: max_file_bytes }),
    ...options.undo,
  };
}
