import { existsSync } from "node:fs";
import type { MCPServerConfig, ToolDefinitionConfig } from "../environment/contract.ts";
import { findToolset } from "../environment/toolset-registry.ts";
import { nearestWord } from "../errors/nearest-word.ts";
import { RookeryError } from "../errors/rookery-error.ts";
import { type CompactionConfig, compactionConfig, compactionProblems } from "./project-config.ts";
import { lineOf, readYamlFile } from "./yaml-file.ts";

const toolDefinition = {
  name: "string",
  description: "string",
  "parameters?": "object",
  "permission?": ["r", "rw"],
  "forModel?": ["vision", "text-only"],
  "timeoutMs?": "number",
  "maxOutputLength?": "number",
  "truncation?": ["head", "head_tail"],
  "call_description?": "boolean",
} as const;

const systemConfig = {
  "toolset?": "string",
  "tools?": {
    fields: {
      "builtin?": { list: { fields: toolDefinition } },
      "mcpServers?": { list: { fields: { name: "string", config: "object" } } },
    },
  },
  "compaction?": { fields: compactionConfig },
  "max_turns?": "number",
};

/** `system_config.yaml` of an agent: docs/configuration.md tells what the keys mean. */
export interface SystemConfig {
  readonly toolset?: string;
  readonly tools?: {
    /** In place of the toolset's definitions, as a whole; an empty list means no built-in tool. */
    readonly builtin?: readonly ToolDefinitionConfig[];
    readonly mcpServers?: readonly MCPServerConfig[];
  };
  readonly compaction?: CompactionConfig;
  /** The most requests of one task; zero or less: no limit. */
  readonly max_turns?: number;
}

/**
 * Reads an agent's own configuration, which nothing here ever writes; a missing or empty file is `{}`.
 *
 * @throws {RookeryError} `config-invalid` naming file, line, key and the valid words.
 */
export async function readSystemConfig(file: string): Promise<SystemConfig> {
  if (!existsSync(file)) return {};
  const yaml = await readYamlFile(file, { fields: systemConfig });
  const config = yaml.value as SystemConfig;
  const [problem] = [...problems(config)];
  if (problem === undefined) return config;
  const { path, what, hint = "correct it, or take it out" } = problem;
  throw new RookeryError("config-invalid", `${file}:${await lineOf(yaml, path)}: ${path}${what}`, { hint });
}

/** What the shape alone does not tell. */
interface Problem {
  readonly path: string;
  readonly what: string;
  readonly hint?: string;
}

function* problems(config: SystemConfig): Generator<Problem> {
  const { toolset, tools = {} } = config;
  for (const [path, what] of compactionProblems(config)) yield { path, what: ` ${what}` };
  const known = toolNames(toolset);
  if (RookeryError.is(known)) {
    yield { path: "toolset", what: `: ${known.message}`, ...(known.hint !== undefined && { hint: known.hint }) };
    return;
  }
  const { builtin = [], mcpServers = [] } = tools;
  for (const [i, { name, parameters = {} }] of builtin.entries()) {
    const path = `tools.builtin[${i}]`;
    if (!known.includes(name)) yield { path: `${path}.name`, ...unknownName(name, known) };
    const { type = "object" } = parameters;
    if (type !== "object") {
      yield { path: `${path}.parameters.type`, what: ` must be "object", got ${JSON.stringify(type)}` };
    }
  }
  yield* repeatedNames("tools.builtin", builtin);
  yield* repeatedNames("tools.mcpServers", mcpServers);
}

function toolNames(toolset: string | undefined): readonly string[] | RookeryError {
  try {
    return findToolset(toolset).tools.map(({ definition }) => definition.name);
  } catch (error) {
    if (RookeryError.is(error)) return error;
    throw error;
  }
}

function unknownName(name: string, known: readonly string[]): Pick<Problem, "what" | "hint"> {
  const nearest = nearestWord(name, known);
  const valid = `use one of ${known.join(", ")}`;
  return {
    what: `: no built-in tool of this toolset is named ${JSON.stringify(name)}`,
    hint: nearest === undefined ? valid : `did you mean ${nearest}? ${valid}`,
  };
}

function* repeatedNames(path: string, entries: readonly { readonly name: string }[]): Generator<Problem> {
  const seen = new Set<string>();
  for (const [i, { name }] of entries.entries()) {
    if (seen.has(name)) yield { path: `${path}[${i}].name`, what: `: ${JSON.stringify(name)} is in the list already` };
    seen.add(name);
  }
}
