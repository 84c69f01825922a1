import type { ToolDefinitionConfig } from "./contract.ts";
import type { BuiltinToolFactory, BuiltinToolModule } from "./tool.ts";
import { describeImage } from "./tools/describe-image.ts";
import { editFile } from "./tools/edit-file.ts";
import { execCommand } from "./tools/exec-command.ts";
import { inputCommand } from "./tools/input-command.ts";
import { readFile } from "./tools/read-file.ts";
import { readImage } from "./tools/read-image.ts";
import { writeFile } from "./tools/write-file.ts";
import type { Toolset } from "./toolset.ts";

/** Every built-in tool. A new one is a file in `tools/` and a name here. */
const modules: readonly BuiltinToolModule[] = [
  execCommand,
  inputCommand,
  readFile,
  editFile,
  writeFile,
  readImage,
  describeImage,
];

/** What makes the built-in tools, by the names that `toolConfig.customTools` may use (PC-077). */
export const BUILTIN_TOOL_FACTORIES: Readonly<Record<string, BuiltinToolFactory>> = Object.fromEntries(
  modules.map(({ definition, create }) => [definition.name, create]),
);

/** The definitions of the standard toolset, as they ship. */
export const STANDARD_TOOLSET: readonly ToolDefinitionConfig[] = modules.map(({ definition }) => definition);

/** The toolset of a session that names none. */
export const standard: Toolset = { name: "standard", tools: modules, skills: true, nativeAgents: "configured" };
