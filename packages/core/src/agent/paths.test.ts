import { execFileSync } from "node:child_process";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { agentPaths, dataRoot } from "./paths.ts";

test("the root is the option, else ROOKERY_HOME, else .rookery in the home directory", () => {
  expect(dataRoot("/a", { ROOKERY_HOME: "/b" })).toBe("/a");
  expect(dataRoot(undefined, { ROOKERY_HOME: "/b" })).toBe("/b");
  expect(dataRoot(undefined, {})).toBe(join(homedir(), ".rookery"));
  expect(dataRoot(undefined, { ROOKERY_HOME: "" })).toBe(join(homedir(), ".rookery"));
});

test("a relative root is made absolute", () => {
  expect(dataRoot("data", {})).toBe(resolve("data"));
});

test("the paths of an agent lie under its project", () => {
  expect(agentPaths("/r", "default_project", "default_agent")).toEqual({
    root: "/r",
    userConfigFile: "/r/config.yaml",
    userSkillsDir: "/r/skills",
    projectConfigFile: "/r/default_project/project_config.yaml",
    agentDir: "/r/default_project/agents/default_agent",
    agentStateDir: "/r/default_project/agents/default_agent/agent_state",
    systemConfigFile: "/r/default_project/agents/default_agent/agent_state/system_config.yaml",
    workspacesDir: "/r/default_project/agents/default_agent/workspaces",
  });
});

test.each(["", "..", "a/b", "a\0b", "a b", "é", "a\n"])("an id such as %j never becomes a path", (id) => {
  expect(() => agentPaths("/r", id, "a")).toThrow(
    `the project id ${JSON.stringify(id)} is not usable as a directory name`,
  );
  expect(() => agentPaths("/r", "p", id)).toThrow("the agent id");
});

test.runIf(process.getuid?.() === 0)("a user without a home is told what to set", () => {
  const module = new URL("./paths.ts", import.meta.url).href;
  const script = `const { dataRoot } = await import(${JSON.stringify(module)});
    process.setuid(54321);
    delete process.env.HOME;
    try { dataRoot() } catch (error) { console.log(error.code, error.message, error.hint) }`;
  const args = ["--import", import.meta.resolve("tsx"), "--input-type=module", "-e", script];
  expect(execFileSync(process.execPath, args, { encoding: "utf8" })).toBe(
    "config-invalid this user has no home directory to keep anything in set ROOKERY_HOME, or give --root\n",
  );
});
