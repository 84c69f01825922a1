import { expect, test } from "vitest";
import { addModel } from "../src/agent/edit-project-config.ts";
import { agentPaths } from "../src/agent/paths.ts";
import { userText } from "../src/omnimessage/build.ts";
import { runToEnd } from "../src/session/run-to-end.ts";
import { collectRun, tempAgent } from "../src/testing/index.ts";
import { startStrictServer } from "./support/strict-server.ts";

test("after a refused key the session runs again only when the resolved key is another one (PC-025)", async () => {
  const server = await startStrictServer({ apiKeys: ["good-key"], scripts: { default: ["hello"] } });
  const env: NodeJS.ProcessEnv = { ACME_API_KEY: "bad-key-0001" };
  await using temp = await tempAgent({ env });
  const session = await temp.agent.createSession({
    workspaceDir: temp.workspaceDir,
    provider: "acme",
    modelId: "compat-1",
    baseUrl: `${server.url}/v1`,
  });
  const { outcome, trace } = await collectRun(session, [userText("Hi")]);
  expect(outcome.status).toBe("auth");
  expect(JSON.stringify([outcome, trace])).not.toContain("bad-key-0001");
  expect(server.log).toHaveLength(1);
  await expect(runToEnd(session, [userText("Hi")])).rejects.toMatchObject({ code: "session-auth" });
  expect(server.log).toHaveLength(1);
  env.ACME_API_KEY = "good-key";
  const again = await collectRun(session, [userText("Now?")]);
  expect(again.outcome).toMatchObject({ status: "completed", text: "hello" });
  await server.close();
});

test("a stored key that was corrected is used by the session that was refused (PC-025, PC-026)", async () => {
  const server = await startStrictServer({ apiKeys: ["good-key"], scripts: { default: ["hello"] } });
  await using temp = await tempAgent();
  const { projectConfigFile } = agentPaths(temp.root, "default_project", "default_agent");
  const entry = { provider: "acme", model_id: "compat-1", base_url: `${server.url}/v1` };
  await addModel(projectConfigFile, { ...entry, api_key: "bad-key-0001" }, { setDefault: true });
  const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir });
  expect((await collectRun(session, [userText("Hi")])).outcome.status).toBe("auth");
  await expect(runToEnd(session, [userText("Hi")])).rejects.toMatchObject({ code: "session-auth" });
  await addModel(projectConfigFile, { ...entry, api_key: "good-key" });
  expect((await collectRun(session, [userText("Now?")])).outcome.status).toBe("completed");
  await server.close();
});
