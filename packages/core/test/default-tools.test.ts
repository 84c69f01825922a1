import { resolve } from "node:path";
import { expect, test } from "vitest";
import { stringify } from "yaml";
import { readSystemConfig } from "../src/agent/system-config.ts";
import { STANDARD_TOOLSET } from "../src/environment/tool-registry.ts";
import { tempAgent } from "../src/testing/index.ts";

const page = resolve(import.meta.dirname, "../../../docs/default-tools.yaml");

const HEAD = `# The tools of the toolset standard as they ship, in the form of an agent's system_config.yaml: what is copied there
# stands in place of the whole list (docs/configuration.md). Generated from the code.
`;

test("the published definitions are current", async () => {
  // To write them anew: npx vitest run packages/core/test/default-tools.test.ts --update
  const config = { toolset: "standard", tools: { builtin: STANDARD_TOOLSET } };
  const text = stringify(config, { aliasDuplicateObjects: false, lineWidth: 120 });
  await expect(HEAD + text).toMatchFileSnapshot(page);
});

test("the published definitions are a configuration of an agent, complete with every field and schema (PT-013)", async () => {
  expect(await readSystemConfig(page)).toEqual({ toolset: "standard", tools: { builtin: STANDARD_TOOLSET } });
});

test("a tool runner lists the built-in tools with everything that their definitions say (PT-013)", async () => {
  await using temp = await tempAgent();
  const runner = await temp.agent.createToolRunner({ workspaceDir: temp.workspaceDir });
  expect(await runner.listTools()).toEqual(STANDARD_TOOLSET);
});
