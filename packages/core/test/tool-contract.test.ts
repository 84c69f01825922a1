import { readdirSync, readFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { SHIPPED_AGENTS } from "../src/agent/native-agents/agent-settings.ts";
import { agentSource } from "../src/agent/native-agents/agent-source.ts";
import { ProcessRegistry } from "../src/environment/process/process-registry.ts";
import type { BuiltinTool } from "../src/environment/tool.ts";
import { findToolset } from "../src/environment/toolset-registry.ts";
import { names } from "../src/omnimessage/definition.ts";
import { shapeProblems } from "../src/omnimessage/shape.ts";
import { toolsetCalls } from "./support/toolset-calls.ts";

const RISKS = ["read_only", "filesystem", "process", "delegate"];
const TOOLSETS = ["standard", "strict", "minimal"];

/** The tools of a set as a session has them, but for skills, which are on disk. */
async function toolsOf(name: string): Promise<readonly BuiltinTool[]> {
  const { tools, nativeAgents } = findToolset(name);
  const config = { workspaceDir: "/", toolConfig: { customTools: [], mcpServers: [] } };
  const host = { commandSessions: new ProcessRegistry(), env: {}, configFile: "config.yaml" };
  const agents = nativeAgents === undefined ? [] : await agentSource(nativeAgents, {}, host).tools();
  return [...tools.map(({ definition, create }) => create(definition, config)), ...agents];
}

test.for(TOOLSETS)(
  "each tool of %s has a name of its own, a description, a schema, a risk, a summary and an asynchronous executor (PE-051)",
  async (toolset) => {
    const tools = await toolsOf(toolset);
    expect(new Set(tools.map(({ name }) => name)).size).toBe(tools.length);
    for (const { name, definition, risk, approvalSummary, execute } of tools) {
      expect(definition).toMatchObject({
        name,
        description: expect.stringMatching(/\S/),
        parameters: { type: "object", properties: expect.any(Object), required: expect.any(Array) },
      });
      expect([RISKS.includes(risk ?? ""), typeof approvalSummary]).toEqual([true, "function"]);
      const run = execute.call(undefined, {}, { workspaceDir: "/", toolCallId: "call_1", signal: AbortSignal.abort() });
      expect(run[Symbol.asyncIterator]).toBeTypeOf("function");
    }
  },
);

test("the risks are read_only, filesystem, process and delegate, and no other (PE-052)", async () => {
  expect(names.Risk).toEqual(RISKS);
  expect(shapeProblems("Risk", "network", { names })).toHaveLength(1);
  const used = await Promise.all(TOOLSETS.map(toolsOf));
  expect([...new Set(used.flat().map(({ risk }) => risk))].sort()).toEqual([...RISKS].sort());
});

test("the standard toolset has tools for files and commands; listing, searching and installing are left to commands (PT-001)", async () => {
  const nine = [
    ...["exec_command", "input_command", "read_file", "edit_file", "write_file"],
    ...["run_subagent", "input_subagent", "read_image", "describe_image"],
  ];
  const shipped = (await toolsOf("standard")).map(({ name }) => name);
  expect(shipped).toEqual(expect.arrayContaining(nine.slice(0, 5)));
  expect(shipped.filter((name) => !nine.includes(name))).toEqual([]);
});

test("a file is read with its lines numbered and edited by exact text, and neither takes a command (PT-002)", async () => {
  const { dir, call } = await toolsetCalls("standard");
  await writeFile(join(dir, "f"), "one\ntwo\n");
  expect((await call("read_file", { file_path: "f" })).output).toBe("     1\tone\n     2\ttwo");
  const edit = (old_string: string) => call("edit_file", { file_path: "f", old_string, new_string: "2" });
  expect((await edit("tw.")).stopReason).toBe("failed");
  expect((await edit("two")).stopReason).toBe("completed");
  expect(await readFile(join(dir, "f"), "utf8")).toBe("one\n2\n");
});

test("the loop and the terminal know no tool by its name (PE-054)", async () => {
  const tools = (await Promise.all(TOOLSETS.map(toolsOf))).flat().map(({ name }) => name);
  const agents = Object.keys(SHIPPED_AGENTS).map((name) => `agent_${name}`);
  const all = [...new Set([...tools, ...agents, "read_skill", "run_subagent", "input_subagent", "read_image"])];
  const [words, distinct] = [all.filter((name) => !name.includes("_")), all.filter((name) => name.includes("_"))];
  // A word that stands for something else, too, is a tool's name where it is compared with one.
  const byName = new RegExp(`\\b(${distinct.join("|")})\\b|(===|case|tool_name:?|name:)\\s*"(${words.join("|")})"`);
  const folders = ["../src/engine", "../../cli/src"].map((folder) => resolve(import.meta.dirname, folder));
  const found = folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((file) => /(?<!\.test)\.ts$/.test(file))
      .filter((file) => byName.test(readFileSync(resolve(folder, file), "utf8"))),
  );
  expect([byName.test('if (name === "bash") {'), byName.test("// read_file")]).toEqual([true, true]);
  expect(found).toEqual([]);
});
