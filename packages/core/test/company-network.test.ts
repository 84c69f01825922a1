import { readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { addModel } from "../src/agent/edit-project-config.ts";
import { agentPaths } from "../src/agent/paths.ts";
import { testModel } from "../src/agent/test-model.ts";
import { userText } from "../src/omnimessage/build.ts";
import { collectRun, tempAgent } from "../src/testing/index.ts";
import { startProxyServer } from "./support/proxy-server.ts";
import { startRawProvider } from "./support/raw-provider.ts";
import { startStrictServer } from "./support/strict-server.ts";

const KEY = "sk-canary-0987654321";
const MODEL = { provider: "acme", modelId: "compat-1" } as const;

test("an agent reaches its model through the proxy of the environment it is given", async () => {
  const server = await startStrictServer({ apiKeys: [KEY], scripts: { default: ["hello"] } });
  const proxy = await startProxyServer(Number(new URL(server.url).port));
  await using temp = await tempAgent({ env: { ACME_API_KEY: KEY, HTTP_PROXY: proxy.url } });
  const { workspaceDir } = temp;
  const session = await temp.agent.createSession({ workspaceDir, ...MODEL, baseUrl: "http://llm.test/v1" });
  const { outcome } = await collectRun(session, [userText("Hi")]);
  expect(outcome).toMatchObject({ status: "completed", text: "hello" });
  expect(proxy.requests).toMatchObject([{ method: "POST", target: "http://llm.test/v1/chat/completions" }]);
  expect(server.violations).toEqual([]);
  await proxy.close();
  await server.close();
});

test.each(["HTTP_PROXY", "http_proxy"])(
  "what lets in at the proxy of %s is shown nowhere when its page repeats it",
  async (variable) => {
    const password = "pä+ss canary";
    const pair = `bob:${password}`;
    const echo = JSON.stringify({ pair, password, sent: Buffer.from(pair).toString("base64") });
    const proxy = await startRawProvider({
      status: 400,
      body: JSON.stringify({ error: { message: `denied: ${echo}` } }),
    });
    const env = { ACME_API_KEY: KEY, [variable]: proxy.url.replace("//", `//bob:${encodeURIComponent(password)}@`) };
    await using temp = await tempAgent();
    const { workspaceDir } = temp;
    const debugFile = join(workspaceDir, "debug.jsonl");
    await using debugged = await tempAgent({ env, debugFile });
    const wish = { ...MODEL, baseUrl: "http://llm.test/v1" };
    const session = await debugged.agent.createSession({ workspaceDir, ...wish });
    const { outcome, trace } = await collectRun(session, [userText("Hi")]);
    expect(proxy.headers[0]?.["proxy-authorization"]).toBe(`Basic ${Buffer.from(pair).toString("base64")}`);
    expect(outcome).toMatchObject({ status: "failed", message: expect.stringContaining("denied: ") });
    const tested = await testModel({ ...wish, env, root: temp.root });
    expect(tested.outcome.message).toBe(outcome.message);
    const shown = JSON.stringify([outcome, trace, tested]) + readFileSync(debugFile, "utf8");
    for (const secret of ["canary", Buffer.from(pair).toString("base64")]) expect(shown).not.toContain(secret);
    await proxy.close();
  },
);

test("a proxy with no usable address is an error before a session is made, unless the model is reached directly", async () => {
  await using temp = await tempAgent({ env: { ACME_API_KEY: KEY, HTTPS_PROXY: "socks5://me:hunter22@proxy.test" } });
  const { workspaceDir, agent } = temp;
  const make = (baseUrl: string) => agent.createSession({ workspaceDir, ...MODEL, baseUrl });
  await expect(make("https://llm.test/v1")).rejects.toMatchObject({
    code: "config-invalid",
    message: 'HTTPS_PROXY must be the address of an http or https proxy, got "socks5://[redacted]@proxy.test"',
  });
  await make("http://127.0.0.1:1/v1");
});

test("a program's own fetch sends the requests, the session's before the agent's, and proxies are its own affair", async () => {
  const server = await startStrictServer({ scripts: { default: ["hello", "again"] } });
  const sent: string[] = [];
  const through =
    (name: string): typeof fetch =>
    (input, init) => {
      sent.push(name);
      return fetch(input, init);
    };
  await using temp = await tempAgent({ fetch: through("agent"), env: { ACME_API_KEY: KEY, HTTP_PROXY: "none://" } });
  for (const own of [{}, { fetch: through("session") }]) {
    const { workspaceDir } = temp;
    const session = await temp.agent.createSession({ workspaceDir, ...MODEL, baseUrl: `${server.url}/v1`, ...own });
    expect((await collectRun(session, [userText("Hi")])).outcome.status).toBe("completed");
  }
  expect(sent).toEqual(["agent", "session"]);
  await server.close();
});

test("debugFile holds every request of the agent's sessions and its answer, and no key", async () => {
  const server = await startStrictServer({ apiKeys: [KEY], scripts: { default: ["hello", "again"] } });
  await using temp = await tempAgent();
  const { workspaceDir } = temp;
  const debugFile = join(workspaceDir, "debug.jsonl");
  await using debugged = await tempAgent({ env: { ACME_API_KEY: KEY }, debugFile });
  const session = await debugged.agent.createSession({ workspaceDir, ...MODEL, baseUrl: `${server.url}/v1` });
  await collectRun(session, [userText(`is ${KEY} a good key?`)]);
  await debugged.agent.dispose();
  const text = readFileSync(debugFile, "utf8");
  const records = text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(records.map(({ event }) => event).filter((event, i, all) => event !== all[i - 1])).toEqual([
    "request",
    "request_body",
    "response",
    "response_body",
    "end",
  ]);
  expect(records[0]).toMatchObject({
    method: "POST",
    url: `${server.url}/v1/chat/completions`,
    headers: { authorization: "[redacted]" },
  });
  expect(JSON.parse(records[1].text).messages.at(-1)).toEqual({ role: "user", content: "is [redacted] a good key?" });
  expect(text).not.toContain(KEY);
  await server.close();
});

test("a debugFile that is a link is an error before anything is done", async () => {
  await using temp = await tempAgent();
  const debugFile = join(temp.workspaceDir, "link");
  symlinkSync(join(temp.workspaceDir, "target"), debugFile);
  await expect(tempAgent({ debugFile })).rejects.toMatchObject({
    code: "config-invalid",
    message: `cannot write a debug log to ${debugFile}: it is a symbolic link`,
  });
});

test.each(["openai-chat", "openai-responses", "anthropic-messages", "google"])(
  "over %s a model's own headers reach the provider, and one of them can stand for the key's",
  async (clientType) => {
    const provider = await startRawProvider({ status: 400, body: '{"error":{"message":"no"}}' });
    await using temp = await tempAgent({ env: { ACME_API_KEY: KEY } });
    const { projectConfigFile } = agentPaths(temp.root, "default_project", "default_agent");
    const entry = { provider: "acme", model_id: "m", base_url: provider.url, client_type: clientType };
    const run = async (headers: Record<string, string>) => {
      await addModel(projectConfigFile, { ...entry, headers }, { setDefault: true });
      const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir });
      expect((await collectRun(session, [userText("Hi")])).outcome.code).toBe("provider-refused");
      return provider.headers.at(-1) ?? {};
    };
    const sent = await run({ "X-Team": "blue" });
    expect(sent["x-team"]).toBe("blue");
    const [keyHeader = "none", key = ""] = Object.entries(sent).find(([, value]) => String(value).includes(KEY)) ?? [];
    expect(key).toContain(KEY);
    const replaced = await run({ [keyHeader.toUpperCase()]: "mine" });
    expect(replaced[keyHeader]).toBe("mine");
    expect(JSON.stringify(replaced)).not.toContain(KEY);
    await provider.close();
  },
);
