import { spawn } from "node:child_process";
import { createReadStream } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { createAgent } from "../src/agent/agent.ts";
import { readMessages } from "../src/omnimessage/json-lines.ts";
import type { OmniMessage } from "../src/omnimessage/message.ts";
import { ruleViolations } from "../src/testing/index.ts";
import { bundleProgram } from "./support/bundle-program.ts";

const ROUNDS = 8;

test("a process killed at any moment leaves a trace that can be read, keeps the rules, and locks nobody out", async () => {
  const directory = await mkdtemp(join(tmpdir(), "rookery-kill-"));
  const program = await bundleProgram("endless-session.ts", directory);
  for (let round = 0; round < ROUNDS; round++) {
    const child = spawn(process.execPath, [program, join(directory, "root"), directory], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let traceFile = "";
    for await (const chunk of child.stdout) {
      traceFile += String(chunk);
      if (traceFile.endsWith("\n")) break;
    }
    // The moment is random on purpose; nothing depends on which one it is.
    await pause(Math.random() * 150);
    const exited = new Promise((done) => child.once("exit", done));
    child.kill("SIGKILL");
    await exited;
    const messages: OmniMessage[] = [];
    const problems: unknown[] = [];
    for await (const entry of readMessages(createReadStream(traceFile.trim()))) {
      if ("problem" in entry) problems.push(entry);
      else messages.push(entry.message);
    }
    expect(problems.every((problem) => (problem as { torn: boolean }).torn)).toBe(true);
    expect(problems.length).toBeLessThanOrEqual(1);
    expect(messages.length).toBeGreaterThan(3);
    expect(ruleViolations(messages, { trace: true, open: true })).toEqual([]);
  }
  const agent = await createAgent({ root: join(directory, "root"), env: {} });
  const sessions = await agent.listSessions();
  expect(sessions).toHaveLength(ROUNDS);
  for (const { id } of sessions) await agent.removeSession(id);
  expect(await agent.listSessions()).toEqual([]);
  await rm(directory, { recursive: true });
}, 60_000);
