import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createAgent } from "../src/agent/agent.ts";
import { Environment } from "../src/environment/environment.ts";
import { toolsetDefinitions } from "../src/environment/toolset-registry.ts";
import { userText } from "../src/omnimessage/build.ts";
import { ofType } from "../src/omnimessage/guards.ts";
import { collectRun, scriptedLLM, tempAgent } from "../src/testing/index.ts";

const unknown = {
  code: "config-invalid",
  message: 'no toolset is named "maximal"',
  hint: "use one of standard, strict, minimal",
};

test("the toolset minimal is bash, read, write and edit, complete for a whole task (PI-053)", async () => {
  const llm = scriptedLLM(
    { calls: [{ name: "write", args: { path: "src/app.ts", content: "const x = 1\n" } }] },
    { calls: [{ name: "edit", args: { path: "src/app.ts", startLine: 1, endLine: 1, content: "const x = 42" } }] },
    { calls: [{ name: "read", args: { path: "src/app.ts" } }] },
    { calls: [{ name: "bash", args: { command: "wc -l < src/app.ts" } }] },
    "Done.",
  );
  await using temp = await tempAgent({ createLLM: () => llm, toolset: "minimal" });
  const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir });
  const { messages, trace } = await collectRun(session, [userText("Go")], { approve: async () => "allow" });
  expect(ofType(trace, "tool_list_ready")[0]?.payload.tools.map(({ name, permission }) => [name, permission])).toEqual([
    ["bash", "rw"],
    ["read", "r"],
    ["write", "rw"],
    ["edit", "rw"],
  ]);
  const outputs = ofType(messages, "tool_call_output").map(({ payload }) => payload.output.trim());
  expect(outputs).toEqual(["✓ Wrote 12 bytes to src/app.ts", "✓ Edited lines 1-1 in src/app.ts", "const x = 42", "1"]);
  expect(await readFile(join(temp.workspaceDir, "src/app.ts"), "utf8")).toBe("const x = 42\n");
});

test("an edit in one reply with the write it builds on waits for it", async () => {
  const calls = [
    { name: "write", args: { path: "a.txt", content: "one\n" } },
    { name: "edit", args: { path: "a.txt", oldText: "one", newText: "two" } },
    { name: "edit", args: { path: "a.txt", oldText: "two", newText: "three" } },
  ];
  await using temp = await tempAgent({ createLLM: () => scriptedLLM({ calls }, "ok"), toolset: "minimal" });
  const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir });
  await collectRun(session, [userText("Go")], { approve: async () => "allow" });
  expect(await readFile(join(temp.workspaceDir, "a.txt"), "utf8")).toBe("three\n");
});

test("a session's toolset goes before its agent's, and tool runners have one too", async () => {
  await using temp = await tempAgent({ createLLM: () => scriptedLLM("ok"), toolset: "minimal" });
  const { workspaceDir } = temp;
  const session = await temp.agent.createSession({ workspaceDir, toolset: "standard" });
  const { trace } = await collectRun(session, [userText("Go")]);
  const names = ofType(trace, "tool_list_ready")[0]?.payload.tools.map(({ name }) => name);
  const forTextOnly = toolsetDefinitions("standard").filter(({ forModel }) => forModel !== "vision");
  expect(names).toEqual(forTextOnly.map(({ name }) => name));
  const runner = await temp.agent.createToolRunner({ workspaceDir });
  expect((await runner.listTools()).map(({ name }) => name)).toEqual(["bash", "read", "write", "edit"]);
});

test("a toolset that is not known is a configuration error that lists the known ones, wherever it is named", async () => {
  const toolset = "maximal";
  await using temp = await tempAgent({ createLLM: () => scriptedLLM() });
  const { agent, workspaceDir } = temp;
  await expect(createAgent({ root: temp.root, toolset })).rejects.toMatchObject(unknown);
  await expect(agent.createSession({ workspaceDir, toolset })).rejects.toMatchObject(unknown);
  await expect(agent.createToolRunner({ workspaceDir, toolset })).rejects.toMatchObject(unknown);
  expect(() => toolsetDefinitions(toolset)).toThrow(unknown.message);
  const [definition] = toolsetDefinitions("minimal");
  const toolConfig = { customTools: definition ? [definition] : [], mcpServers: [] };
  expect(() => new Environment({ workspaceDir, toolset, toolConfig })).toThrow(unknown.message);
  expect(() => new Environment({ workspaceDir, toolConfig })).toThrow('no built-in tool is named "bash"');
});

test("tools of minimal ship with the limits and the schemas that their handlers keep to", () => {
  const properties = Object.fromEntries(
    toolsetDefinitions("minimal").map(({ name, parameters = {} }) => [
      name,
      [Object.keys(parameters.properties ?? {}), parameters.required],
    ]),
  );
  expect(properties).toEqual({
    bash: [["command"], ["command"]],
    read: [["path", "startLine", "endLine"], ["path"]],
    write: [
      ["path", "content"],
      ["path", "content"],
    ],
    edit: [["path", "startLine", "endLine", "content", "oldText", "newText"], ["path"]],
  });
});
