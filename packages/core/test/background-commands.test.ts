import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { createAgent } from "../src/agent/agent.ts";
import { agentPaths } from "../src/agent/paths.ts";
import { ProcessRegistry } from "../src/environment/process/process-registry.ts";
import { userText } from "../src/omnimessage/build.ts";
import { ofType } from "../src/omnimessage/guards.ts";
import { collectRun, scriptedLLM, tempAgent } from "../src/testing/index.ts";
import { sessionPaths } from "../src/trace/session-paths.ts";
import { bundleProgram } from "./support/bundle-program.ts";
import { escapingCommands, prepareEscapingCommands, writtenPids } from "./support/escaping-commands.ts";
import { isRunning } from "./support/processes.ts";

const onLinux = test.skipIf(process.platform !== "linux");

const COUNT = 50;

async function livingOf(workspaceDir: string): Promise<number> {
  const alive = await Promise.all(writtenPids(workspaceDir).map(isRunning));
  return alive.filter(Boolean).length;
}

onLinux("of fifty background commands, half of which left their group, none is alive after dispose", async () => {
  const calls = escapingCommands(COUNT).map((cmd) => ({
    name: "exec_command",
    args: { description: "Goes on.", cmd, run_in_background: true },
  }));
  await using temp = await tempAgent({ createLLM: () => scriptedLLM({ calls }, "started") });
  prepareEscapingCommands(temp.workspaceDir);
  const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir });
  const { outcome, messages } = await collectRun(session, [userText("Start them.")], { approve: async () => "allow" });
  expect(outcome.status).toBe("completed");
  const outputs = ofType(messages, "tool_call_output").map(({ payload }) => payload.output);
  expect(outputs.filter((output) => /process_id: proc-[0-9a-f]{8}/.test(output))).toHaveLength(COUNT);
  await expect.poll(() => livingOf(temp.workspaceDir), { timeout: 15_000 }).toBe(COUNT);
  await session.dispose();
  expect(await livingOf(temp.workspaceDir)).toBe(0);
});

/** A process with a session of its own that starts the commands, killed when they run. */
async function killedSession(): Promise<{ root: string; workspaceDir: string; sessionId: string }> {
  const directory = await mkdtemp(join(tmpdir(), "rookery-background-"));
  const [root, workspaceDir] = [join(directory, "root"), join(directory, "workspace")];
  await mkdir(workspaceDir);
  prepareEscapingCommands(workspaceDir);
  const program = await bundleProgram("background-session.ts", directory);
  const child = spawn(process.execPath, [program, root, workspaceDir, String(COUNT)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const sessionId = await firstLine(child);
  await expect.poll(() => livingOf(workspaceDir), { timeout: 15_000 }).toBe(COUNT);
  const exited = new Promise((done) => child.once("exit", done));
  child.kill("SIGKILL");
  await exited;
  expect(await livingOf(workspaceDir)).toBe(COUNT);
  return { root, workspaceDir, sessionId };
}

async function firstLine({ stdout }: ChildProcess): Promise<string> {
  let text = "";
  for await (const chunk of stdout ?? []) {
    text += String(chunk);
    if (text.endsWith("\n")) break;
  }
  return text.trim();
}

onLinux("none is alive either after a kill, once the session is opened again", async () => {
  const { root, workspaceDir, sessionId } = await killedSession();
  const { agentDir } = agentPaths(root, "default_project", "default_agent");
  const { processesFile } = sessionPaths(agentDir, sessionId);
  const registry = new ProcessRegistry({ ownerFile: processesFile });
  await registry.endLeftovers();
  expect(await livingOf(workspaceDir)).toBe(0);
  await registry.dispose();
  expect(existsSync(processesFile)).toBe(false);
});

onLinux("a killed session that is removed takes its commands with it", async () => {
  const { root, workspaceDir, sessionId } = await killedSession();
  const agent = await createAgent({ root, env: {} });
  await agent.removeSession(sessionId);
  expect(await livingOf(workspaceDir)).toBe(0);
  expect(await agent.listSessions()).toEqual([]);
  await agent.dispose();
});

test("a session leaves no record of its commands behind when it is disposed of", async () => {
  const calls = [{ name: "exec_command", args: { description: "Prints.", cmd: "echo hi" } }];
  await using temp = await tempAgent({ createLLM: () => scriptedLLM({ calls }, "done") });
  const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir });
  await collectRun(session, [userText("Go")], { approve: async () => "allow" });
  const processes = join(dirname(session.traceFile), "processes");
  expect(existsSync(processes)).toBe(true);
  await session.dispose();
  expect(existsSync(processes)).toBe(false);
});
