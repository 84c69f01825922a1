import { type CommandPolicy, patternProblem } from "../approval/policy/command-policy.ts";
import { type ApprovalRule, ruleProblem } from "../approval/rule.ts";
import { RookeryError } from "../errors/rookery-error.ts";
import type { FieldsOf } from "../omnimessage/shape.ts";
import { isMissing, lineOf, readYamlFile, type YamlFile } from "./yaml-file.ts";

const modelEntry = {
  provider: "string",
  model_id: "string",
  "client_type?": "string",
  "base_url?": "string",
  "api_key?": "string",
  "key_command?": "string",
  "headers?": { map: "string" },
  "context_window?": "number",
  "max_tokens?": "number",
  "vision?": "boolean",
  "thinking_level?": ["none", "low", "medium", "high", "xhigh"],
  "pricing?": { fields: { "input?": "number", cache_read: "number", cache_write: "number", output: "number" } },
} as const;

const ruleTarget = {
  "command?": "string",
  "tool?": "string",
  "path?": "string",
  "access?": ["read", "write"],
} as const;

const rule = {
  "allow?": { fields: ruleTarget },
  "deny?": { fields: ruleTarget },
  "workspace?": "string",
} as const;

const policyRule = { name: "string", pattern: "string", "description?": "string", "enabled?": "boolean" } as const;

const modelName = { provider: "string", model_id: "string" } as const;

/** Of a project and of an agent. */
export const compactionConfig = {
  "max_context_length?": "number",
  "max_session_turns?": "number",
  "mode?": ["summarize", "discard"],
  "prompt?": "string",
  "keep_recent_tokens?": "number",
  "keep_output_tokens?": "number",
  "model?": { fields: { provider: "string", model_id: "string" } },
} as const;

const projectConfig = {
  "default_model?": { fields: modelName },
  "vision_model?": { fields: modelName },
  "models?": { list: { fields: modelEntry } },
  "compaction?": { fields: compactionConfig },
  "images?": { fields: { "allow_private_addresses?": "boolean" } },
  "undo?": { fields: { "enabled?": "boolean", "max_bytes?": "number", "max_file_bytes?": "number" } },
  "skills?": { fields: { "max_skills?": "number", "max_skill_bytes?": "number" } },
  "command_policy?": { fields: { "enabled?": "boolean", "rules?": { list: { fields: policyRule } } } },
  "rules?": { list: { fields: rule } },
};

/** Which model: the pair by which a project knows it. */
export type ModelName = Pick<ModelEntry, "provider" | "model_id">;

/** What a project knows of one model; `context_window` and `max_tokens` in tokens, `pricing` in USD per million. */
export type ModelEntry = FieldsOf<typeof modelEntry>;

/** Sizes are in tokens. */
export type CompactionConfig = FieldsOf<typeof compactionConfig>;

/** `project_config.yaml`: docs/configuration.md tells what the keys mean. */
export interface ProjectConfig {
  readonly default_model?: ModelName;
  readonly vision_model?: ModelName;
  readonly models?: readonly ModelEntry[];
  readonly compaction?: CompactionConfig;
  readonly images?: { readonly allow_private_addresses?: boolean };
  readonly undo?: { readonly enabled?: boolean; readonly max_bytes?: number; readonly max_file_bytes?: number };
  readonly skills?: { readonly max_skills?: number; readonly max_skill_bytes?: number };
  readonly command_policy?: CommandPolicy;
  readonly rules?: readonly ApprovalRule[];
}

/**
 * Reads a project's configuration; a missing or empty file is `{}`.
 *
 * @throws {RookeryError} `config-invalid` naming file, line, key and the nearest valid word.
 */
export async function readProjectConfig(file: string): Promise<ProjectConfig> {
  // Most projects have none, and the parser takes as long to load as everything else of a start.
  return isMissing(file) ? {} : (await readProjectYaml(file)).config;
}

/** The same with the document behind it, for edits that keep comments and order. */
export async function readProjectYaml(file: string): Promise<{ config: ProjectConfig; yaml: YamlFile }> {
  const yaml = await readYamlFile(file, { fields: projectConfig });
  const config = yaml.value as ProjectConfig;
  const [problem] = [...ruleProblems(config), ...compactionProblems(config)];
  if (problem === undefined) return { config, yaml };
  const [place, what] = problem;
  // Ignoring a rule that somebody relies on would be worse than not starting.
  throw new RookeryError("config-invalid", `${file}:${await lineOf(yaml, place)}: ${place} ${what}`, {
    hint: "correct it, or take it out",
  });
}

/** What the shape of a project's or an agent's compaction does not tell. */
export function* compactionProblems({
  compaction = {},
}: Pick<ProjectConfig, "compaction">): Generator<[place: string, what: string]> {
  for (const [key, value] of Object.entries(compaction)) {
    const least = key === "keep_output_tokens" ? -1 : 0;
    if (typeof value === "number" && value < least)
      yield [`compaction.${key}`, `must be ${least} or more, got ${value}`];
  }
  if (compaction.prompt?.trim() === "") yield ["compaction.prompt", "is empty"];
}

function* ruleProblems({
  rules = [],
  command_policy: policy,
}: ProjectConfig): Generator<[place: string, what: string]> {
  for (const [i, one] of rules.entries()) {
    const what = ruleProblem(one);
    if (what !== undefined) yield [`rules[${i}]`, what];
  }
  for (const [i, { pattern }] of (policy?.rules ?? []).entries()) {
    const what = patternProblem(pattern);
    if (what !== undefined) yield [`command_policy.rules[${i}].pattern`, `is no regular expression: ${what}`];
  }
}
