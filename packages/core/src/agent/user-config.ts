import { statSync } from "node:fs";
import type { OnWarning } from "../environment/contract.ts";
import { RookeryError } from "../errors/rookery-error.ts";
import type { FieldsOf } from "../omnimessage/shape.ts";
import { agentProblem } from "./native-agents/agent-settings.ts";
import { isMissing, lineOf, readYamlFile } from "./yaml-file.ts";

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
 * @param onWarning - Told where others may write to the file, which says what programs are started.
 * @throws {RookeryError} `config-invalid` naming file, line, key and the nearest valid word.
 */
export async function readUserConfig(file: string, onWarning: OnWarning = () => undefined): Promise<UserConfig> {
  if (isMissing(file)) return {};
  const yaml = await readYamlFile(file, { fields: userConfig });
  const config = yaml.value as UserConfig;
  for (const [name, settings] of Object.entries(config.native_agents ?? {})) {
    const problem = agentProblem(name, settings);
    if (problem === undefined) continue;
    const place = ["native_agents", name, ...problem.keys];
    throw new RookeryError(
      "config-invalid",
      `${file}:${await lineOf(yaml, place)}: ${place.join(".")} ${problem.what}`,
      {
        hint: "correct it, or take it out",
      },
    );
  }
  const { mode = 0 } = statSync(file, { throwIfNoEntry: false }) ?? {};
  if ((mode & 0o022) !== 0) {
    onWarning({ code: "config-writable", message: `others may write to ${file}; take that right away: chmod go-w` });
  }
  return config;
}
