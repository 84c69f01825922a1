import { existsSync } from "node:fs";
import type { FieldsOf } from "../omnimessage/shape.ts";
import { readYamlFile } from "./yaml-file.ts";

const userConfig = {
  "native_agents?": { map: { fields: { executable: "string", "args?": { list: "string" } } } },
  "sandbox?": { fields: { "mode?": ["off", "read-only", "workspace-write"], "network?": ["on", "off"] } },
  "trusted_workspaces?": { list: { fields: { path: "string", "hooks_sha256?": "string" } } },
} as const;

/** `config.yaml` of the data directory, which is the person's own and no tool may write: docs/configuration.md. */
export type UserConfig = FieldsOf<typeof userConfig>;

/**
 * Reads the person's configuration; a missing or empty file is `{}`.
 *
 * @throws {RookeryError} `config-invalid` naming file, line, key and the nearest valid word.
 */
export async function readUserConfig(file: string): Promise<UserConfig> {
  if (!existsSync(file)) return {};
  return (await readYamlFile(file, { fields: userConfig })).value as UserConfig;
}
