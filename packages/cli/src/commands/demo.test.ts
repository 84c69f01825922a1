import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAgent, isType } from "@rookery/core";
import { afterAll, expect, test, vi } from "vitest";
import { fakeIo } from "../../test/support/fake-io.ts";
import { rookery } from "../rookery.ts";

const root = mkdtempSync(join(tmpdir(), "rookery-demo-command-"));
// What the tools run gets the environment of this process.
vi.stubEnv("TMPDIR", root);
vi.stubEnv("NODE_OPTIONS", "--test-reporter=dot");
afterAll(() => {
  vi.unstubAllEnvs();
  rmSync(root, { recursive: true });
});

test("options for all Node programs do not make the recorded calls fail, and what it says to type can be pasted", async () => {
  const place = join(root, "it's $HOME");
  const io = fakeIo();
  expect(await rookery(["demo", "--root", place], io)).toBe(0);
  const [, id = "", flags = ""] = /sessions show (\S+) (--root .*)\n/.exec(io.out()) ?? [];
  expect(execFileSync("sh", ["-c", `printf '%s|' ${flags}`], { encoding: "utf8" })).toBe(`--root|${place}|`);

  await using agent = await createAgent({ root: place, env: {} });
  const ended: unknown[] = [];
  for await (const entry of agent.readSession(id)) {
    if ("message" in entry && isType(entry.message, "tool_call_output")) ended.push(entry.message.payload.stop_reason);
  }
  expect(ended).toEqual(["failed", "completed", "completed", "completed", "completed"]);
});

test("the demo has the tools and the turns that it was recorded with, whatever the agent's own file says", async () => {
  const place = mkdtempSync(join(root, "own-"));
  const state = join(place, "default_project/agents/default_agent/agent_state");
  mkdirSync(state, { recursive: true });
  writeFileSync(join(state, "system_config.yaml"), "max_turns: 1\ntools: { builtin: [] }\n");
  const io = fakeIo();
  expect(await rookery(["demo", "--root", place], io)).toBe(0);
  expect(io.out()).toContain("4 of 4 pass");
  expect(io.err()).not.toContain("no tool named");
});
