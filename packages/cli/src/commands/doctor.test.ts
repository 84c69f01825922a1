import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { fakeIo } from "../../test/support/fake-io.ts";
import type { Finding } from "../doctor/finding.ts";
import { display, node, platform, sandbox } from "../doctor/machine.ts";
import { rookery } from "../rookery.ts";

let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "rookery-doctor-"));
});

async function doctor(env: NodeJS.ProcessEnv = {}): Promise<{ exitCode: number; find: Find; text: string }> {
  const io = fakeIo({ env: { PATH: process.env.PATH, ROOKERY_HOME: root, ...env } });
  const exitCode = await rookery(["doctor", "--output", "json"], io);
  const findings: Finding[] = JSON.parse(io.out());
  return { exitCode, find: (name) => findings.filter((finding) => finding.name === name), text: io.out() };
}

type Find = (name: string) => readonly Finding[];

test("a machine in order has no failure: one line for each thing, with what to do where something is missing", async () => {
  const io = fakeIo({ env: { PATH: process.env.PATH, ROOKERY_HOME: root } });
  expect(await rookery(["doctor"], io)).toBe(0);
  for (const line of io.out().trimEnd().split("\n")) expect(line).toMatch(/^(ok|warn|fail) +\S/);
  expect(io.out()).toMatch(/^ok +node +20|^ok +node +\d/m);
  expect(io.out()).toMatch(/^warn +model +no model is chosen; set a provider's key/m);
  expect(io.out()).toContain(`${root} (0700)`);
});

test("a program that is not there is named with what it is for", async () => {
  const { exitCode, find } = await doctor({ PATH: root });
  expect(find("git")).toEqual([
    {
      name: "git",
      status: "warn",
      found: "not found",
      todo: "agents look at changes with it; install it with the system's package manager",
    },
  ]);
  expect(exitCode).toBe(0);
});

test("a configuration that cannot be read is a failure with its file and line", async () => {
  writeFileSync(join(root, "config.yaml"), "sandbox:\n  mode: read-only\n  netwrok: off\n", { mode: 0o600 });
  const { exitCode, find } = await doctor();
  expect(find("config.yaml")).toEqual([
    {
      name: "config.yaml",
      status: "fail",
      found: `${join(root, "config.yaml")}:3: sandbox.netwrok is not a known key`,
      todo: "did you mean network?",
    },
  ]);
  expect(exitCode).toBe(1);
});

test("the agent's own file is looked at: in order, or a failure with its file, its line and the valid words", async () => {
  expect((await doctor()).find("system_config.yaml")).toMatchObject([
    { status: "ok", found: "there is none, and none is needed" },
  ]);
  const directory = join(root, "default_project/agents/default_agent/agent_state");
  mkdirSync(directory, { recursive: true });
  const file = join(directory, "system_config.yaml");
  writeFileSync(file, "toolset: minimal\ntools:\n  builtin: [{ name: reed, description: d }]\n");
  const { exitCode, find } = await doctor();
  expect(find("system_config.yaml")).toEqual([
    {
      name: "system_config.yaml",
      status: "fail",
      found: `${file}:3: tools.builtin[0].name: no built-in tool of this toolset is named "reed"`,
      todo: "did you mean read? use one of bash, read, write, edit",
    },
  ]);
  expect(exitCode).toBe(1);
  writeFileSync(file, "toolset: minimal\n");
  expect((await doctor()).find("system_config.yaml")).toMatchObject([{ status: "ok", found: `${file} is in order` }]);
});

test("a key and a proxy's password are never shown", async () => {
  const { find, text } = await doctor({
    OPENAI_API_KEY: "sk-hidden",
    HTTPS_PROXY: "http://me:secret@proxy.example:3128",
  });
  expect(find("model")).toMatchObject([{ status: "ok", found: expect.stringContaining("key: OPENAI_API_KEY") }]);
  expect(find("https proxy")).toMatchObject([{ found: "http://proxy.example:3128 (HTTPS_PROXY)" }]);
  expect(text).not.toMatch(/hidden|secret@/);
  const broken = await doctor({ HTTP_PROXY: "ftp://me:secret@proxy.example" });
  expect(broken.find("http proxy")).toMatchObject([{ status: "fail" }]);
  expect(broken.text).not.toContain("secret@");
});

test("a model that was chosen without a key that is to be found is a failure", async () => {
  const { exitCode, find } = await doctor({ ROOKERY_MODEL: "openai/gpt-5.4" });
  expect(find("model")).toMatchObject([{ status: "fail", found: 'no key is known for the provider "openai"' }]);
  expect(exitCode).toBe(1);
});

test("secrets that others can open are told, with the command that closes them", async () => {
  const file = join(root, "default_project", "project_config.yaml");
  mkdirSync(join(root, "default_project"));
  writeFileSync(file, "");
  chmodSync(file, 0o644);
  const { find } = await doctor();
  expect(find("secret file")).toEqual([
    { name: "secret file", status: "warn", found: `others can open ${file} (0644)`, todo: `chmod 600 ${file}` },
  ]);
});

test("a data directory that cannot be made is a failure", async () => {
  writeFileSync(join(root, "file"), "");
  const { exitCode, find } = await doctor({ ROOKERY_HOME: join(root, "file", "data") });
  expect(find("data directory")).toMatchObject([{ status: "fail" }]);
  expect(exitCode).toBe(1);
});

test("versions and platforms", () => {
  expect([node("20.19.0").status, node("24.1.0").status, node("20.18.3").status, node("18.20.0").status]).toEqual([
    "ok",
    "ok",
    "fail",
    "fail",
  ]);
  expect([platform("linux").status, platform("win32").status]).toEqual(["ok", "warn"]);
});

test("a sandbox that cannot be had is a failure only where the person's configuration asks for it", () => {
  const found = { problem: "no", hint: "do" };
  const none = () => found;
  const networked = (network: "on" | "off") => (network === "on" ? { program: "/usr/bin/bwrap" } : found);
  expect(sandbox(undefined, none)).toMatchObject({ status: "warn", found: "none: no", todo: "do" });
  expect(sandbox({ mode: "read-only", network: "on" }, none)).toMatchObject({ status: "fail" });
  expect(sandbox({ mode: "read-only" }, networked)).toMatchObject({
    status: "fail",
    found: "none without a network: no",
  });
  expect(sandbox({ mode: "read-only", network: "on" }, networked)).toMatchObject({ status: "warn" });
});

test("a terminal whose locale is not UTF-8 is told", () => {
  const { stdout } = fakeIo({ isTTY: true });
  expect(display({ stdout, env: { LANG: "C.UTF-8" } })).toMatchObject({ status: "ok" });
  if (process.platform === "darwin") return;
  expect(display({ stdout, env: { LANG: "C", NO_COLOR: "1" } })).toMatchObject({
    status: "warn",
    found: "a terminal of 60 columns, no colours, locale C",
  });
});
