import { bash } from "../tools/strict/bash.ts";
import { read } from "../tools/strict/read.ts";
import { write } from "../tools/strict/write.ts";
import type { Toolset } from "../toolset.ts";

/** Three tools kept to the workspace and other agents, one call after another (PE-002). */
export const strict: Toolset = {
  name: "strict",
  tools: [read, write, bash],
  skills: true,
  nativeAgents: "shipped",
  toolExecution: "sequential",
};
