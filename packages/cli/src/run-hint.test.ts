import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { outcome } from "../test/support/fake-agent.ts";
import { type KeyPlace, runHint } from "./run-hint.ts";

const meta = { provider: "my-lab", model_id: "org/m" };
const nowhere: KeyPlace = { projectConfigFile: "/none/project_config.yaml", env: {} };

test.each([
  ["its variable", "", { MY_LAB_API_KEY: "k" }, "check MY_LAB_API_KEY, or store another key"],
  ["the entry", "api_key: k", { MY_LAB_API_KEY: "k" }, "the stored key was refused; store another"],
  ["the command that prints it", "key_command: c", {}, "check what its key_command prints, or store another key"],
  ["the variable to set where there was none", "", {}, "set MY_LAB_API_KEY, or store a key"],
  [
    "its variable where the file is broken by now",
    "]",
    { MY_LAB_API_KEY: "k" },
    "check MY_LAB_API_KEY, or store another key",
  ],
])("a refused key leads to %s, and to the command that stores one", async (_, entry, env, hint) => {
  const projectConfigFile = join(mkdtempSync(join(tmpdir(), "rookery-hint-")), "project_config.yaml");
  writeFileSync(projectConfigFile, `models: [{ provider: my-lab, model_id: org/m, ${entry} }]`);
  expect(await runHint(outcome({ status: "auth" }), meta, { projectConfigFile, env })).toBe(
    `${hint} with rookery config model add my-lab/org/m`,
  );
});

test("of a provider of the catalogue the variable is the one that was set", async () => {
  const qwen = { provider: "qwen", model_id: "qwen-plus" };
  for (const variable of ["DASHSCOPE_API_KEY", "QWEN_API_KEY"]) {
    const place = { ...nowhere, env: { [variable]: "k" } };
    expect(await runHint(outcome({ status: "auth" }), qwen, place)).toMatch(new RegExp(`^check ${variable}, or `));
  }
  expect(await runHint(outcome({ status: "auth" }), qwen, nowhere)).toMatch(/^set DASHSCOPE_API_KEY, or /);
});

test.each([
  [
    "HTTP 404 (not_found_error): model: nope",
    "check the model's name and the address (known names: rookery config model list --available)",
  ],
  [
    "HTTP 400: The model `x` does not exist",
    "check the model's name and the address (known names: rookery config model list --available)",
  ],
  ["HTTP 429 (insufficient_quota): You exceeded your current quota", "add credit at the provider"],
  ["HTTP 402: Insufficient Balance", "add credit at the provider"],
  ["HTTP 403 (permission_error): not for you", "this key may not use this model; take another one"],
  ["HTTP 400 (invalid_request_error, unsupported_parameter): Unsupported parameter: 'top_k'", undefined],
])("a first request that is refused, %s: %s", async (answer, hint) => {
  const refused = { status: "failed", code: "provider-refused", message: `the provider answered ${answer}` } as const;
  expect(await runHint(outcome({ ...refused, turns: 0 }), meta, nowhere)).toBe(hint);
  expect(await runHint(outcome({ ...refused, turns: 1 }), meta, nowhere)).toBeUndefined();
});

test("a proxy's refusal says itself what to do", async () => {
  const message = "the proxy in HTTPS_PROXY asks for a user name and password (HTTP 407); put the right ones in";
  const refused = outcome({ status: "failed", code: "provider-refused", turns: 0, message });
  expect(await runHint(refused, meta, nowhere)).toBeUndefined();
});

test.each([
  ["connect ECONNREFUSED 127.0.0.1:8080", "is the server running?"],
  ["connect ECONNREFUSED ::1:8080", "is the server running?"],
  ["connect ECONNREFUSED 203.0.113.7:443", undefined],
  ["HTTP 503", undefined],
  [
    "getaddrinfo ENOTFOUND api.lab.example",
    "check the network and the address; behind a company's proxy set HTTPS_PROXY",
  ],
])("after all attempts, %s: %s", async (message, hint) => {
  expect(await runHint(outcome({ status: "timeout", code: "retries-exhausted", message }), meta, nowhere)).toBe(hint);
});

test("a run that completed or was interrupted needs no hint", async () => {
  expect(await runHint(outcome(), meta, nowhere)).toBeUndefined();
  expect(await runHint(outcome({ status: "aborted" }), meta, nowhere)).toBeUndefined();
});
