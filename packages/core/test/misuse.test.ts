import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createAgent } from "../src/agent/agent.ts";
import { assistantText, userText } from "../src/omnimessage/build.ts";
import { runToEnd } from "../src/session/run-to-end.ts";
import { scriptedLLM, tempAgent } from "../src/testing/index.ts";
import { echoTool } from "./support/test-tools.ts";

test("a second run beside a running one is refused, and the first goes on", async () => {
  await using temp = await tempAgent({ createLLM: () => scriptedLLM("ok") });
  const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir });
  const first = session.run([userText("Hi")]);
  await first.next();
  await expect(session.run([userText("Me too")]).next()).rejects.toMatchObject({ code: "session-busy" });
  for await (const _ of first);
});

test("a disposed session refuses to run, and may be disposed of twice", async () => {
  await using temp = await tempAgent({ createLLM: () => scriptedLLM("ok") });
  const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir });
  await session.dispose();
  await session.dispose();
  await expect(session.run([userText("Hi")]).next()).rejects.toMatchObject({ code: "session-closed" });
});

test("a disposed agent makes no more sessions, and ends those it made", async () => {
  await using temp = await tempAgent({ createLLM: () => scriptedLLM("ok") });
  const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir });
  await temp.agent.dispose();
  await expect(temp.agent.createSession()).rejects.toMatchObject({ code: "agent-closed" });
  await expect(session.run([userText("Hi")]).next()).rejects.toMatchObject({ code: "session-closed" });
});

test.each([
  ["no message", []],
  ["white space", [userText(" \n ")]],
  ["what only a model says", [assistantText("I am you")]],
])("input that is %s is refused", async (_, input) => {
  await using temp = await tempAgent({ createLLM: () => scriptedLLM("ok") });
  const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir });
  await expect(session.run(input).next()).rejects.toMatchObject({ code: "input-empty" });
  expect((await runToEnd(session, [userText("Hi")])).outcome.status).toBe("completed");
});

test("disposing of a session interrupts its run, which then ends as aborted", async () => {
  await using temp = await tempAgent({ createLLM: () => scriptedLLM({ text: "long", hang: true }) });
  const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir });
  const run = runToEnd(session, [userText("Hi")]);
  await new Promise((resolve) => setImmediate(resolve));
  await session.dispose();
  expect((await run).outcome.status).toBe("aborted");
});

test("a model whose key is nowhere is refused when the session is made", async () => {
  await using temp = await tempAgent();
  const model = { provider: "acme", modelId: "m", baseUrl: "https://acme.test" };
  await expect(temp.agent.createSession({ workspaceDir: temp.workspaceDir, ...model })).rejects.toMatchObject({
    code: "model-auth",
  });
});

test.each([
  ["missing", (dir: string) => join(dir, "nowhere"), "does not exist"],
  ["a file", (dir: string) => join(dir, "file"), "is not a directory"],
])("a workspace that is %s is refused by name", async (_, path, what) => {
  await using temp = await tempAgent({ createLLM: () => scriptedLLM() });
  await writeFile(join(temp.workspaceDir, "file"), "");
  const workspaceDir = path(temp.workspaceDir);
  await expect(temp.agent.createSession({ workspaceDir })).rejects.toMatchObject({
    code: "workspace-missing",
    message: `the workspace ${JSON.stringify(workspaceDir)} ${what}`,
  });
});

test("a data directory that cannot be written is refused when a session is made", async () => {
  await using temp = await tempAgent();
  const root = join(temp.workspaceDir, "file");
  await writeFile(root, "");
  const agent = await createAgent({ root, env: {}, createLLM: () => scriptedLLM() });
  await expect(agent.createSession({ workspaceDir: temp.workspaceDir })).rejects.toMatchObject({
    code: "root-unwritable",
  });
});

test("an id that could leave the data directory is refused", async () => {
  await expect(createAgent({ agentId: "../x" })).rejects.toMatchObject({ code: "config-invalid" });
});

test("two tools of one name are refused when the session is made", async () => {
  await using temp = await tempAgent({ createLLM: () => scriptedLLM(), tools: [echoTool(), echoTool()] });
  await expect(temp.agent.createSession({ workspaceDir: temp.workspaceDir })).rejects.toMatchObject({
    code: "tool-duplicate",
  });
});

test("a session that never ran leaves nothing behind", async () => {
  await using temp = await tempAgent({ createLLM: () => scriptedLLM() });
  const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir });
  await session.dispose();
  expect(await temp.agent.listSessions()).toEqual([]);
});
