import { mkdtemp, realpath } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { driveTool } from "../../../test/support/drive-tool.ts";
import { isRunning, readPid } from "../../../test/support/processes.ts";
import type { ToolResult } from "../contract.ts";
import { execCommand } from "../tools/exec-command.ts";
import { inputCommand } from "../tools/input-command.ts";
import { ProcessRegistry } from "./process-registry.ts";
import { startInTerminal } from "./start-in-terminal.ts";

let workspaceDir: string;
let registry: ProcessRegistry;

beforeEach(async () => {
  workspaceDir = await realpath(await mkdtemp(join(tmpdir(), "rookery-terminal-")));
  registry = new ProcessRegistry();
});

afterEach(() => registry.dispose());

type Answer = Awaited<ReturnType<typeof driveTool>>;

function call(module: typeof execCommand, args: Record<string, unknown>, signal?: AbortSignal): Promise<Answer> {
  const toolConfig = { customTools: [], mcpServers: [] };
  const tool = module.create(module.definition, { workspaceDir, toolConfig, services: { commandSessions: registry } });
  return driveTool(tool, args, { workspaceDir, ...(signal && { signal }) });
}

const exec = (cmd: string, more: object = {}, signal?: AbortSignal): Promise<Answer> =>
  call(execCommand, { cmd, tty: true, ...more }, signal);
const input = (id: string, more: object): Promise<Answer> => call(inputCommand, { process_id: id, ...more });
const idOf = ({ note = "" }: ToolResult): string => /process_id: (proc-\w+)/.exec(note)?.[1] ?? "";

test("with tty a command has a terminal of 80 by 24, is its foreground, and leads its group", async () => {
  const { text, result } = await exec(
    "test -t 0 && test -t 1 && test -t 2 && stty size; pwd; ps -o pgid= -p $$ | grep -c $$",
  );
  expect(text).toBe(`24 80\n${workspaceDir}\n1\n`);
  expect(result).toMatchObject({ stopReason: "completed", note: "[exit code 0]" });
});

test("how it ends is told as without one", async () => {
  expect((await exec("echo half; exit 7")).result).toMatchObject({ stopReason: "failed", note: "[exit code 7]" });
  expect((await exec("echo half; kill -9 $$")).result).toMatchObject({ note: "[killed by SIGKILL]" });
});

test("a question is answered, and the terminal gives Ctrl-C and Ctrl-D their meaning among other characters", async () => {
  const asked = await exec("trap 'echo caught' INT; read -p 'Name? ' n; echo hi $n; cat; echo bye", {
    yield_time_ms: 1000,
  });
  const id = idOf(asked.result);
  expect(asked.text).toBe("Name? ");
  expect((await input(id, { chars: "Zoë\r", yield_time_ms: 1000 })).text).toBe("Zoë\nhi Zoë\n");
  expect((await input(id, { chars: "line\r", yield_time_ms: 1000 })).text).toBe("line\nline\n");
  const rest = await input(id, { chars: "lost\u0003", yield_time_ms: 2000 });
  expect(rest).toMatchObject({ text: "^Ccaught\nbye\n", result: { note: "[exit code 0]" } });
});

test("the end of input is Ctrl-D", async () => {
  const id = idOf((await exec("cat; echo end", { yield_time_ms: 1000 })).result);
  expect((await input(id, { chars: "\u0004", yield_time_ms: 2000 })).text).toContain("end\n");
});

test("an abort ends what runs at a terminal, also what ignores the hang-up", async () => {
  const abort = new AbortController();
  const running = exec("trap '' HUP TERM; echo $$ > pid; while :; do sleep 0.1; done", {}, abort.signal);
  const pid = await readPid(join(workspaceDir, "pid"));
  abort.abort();
  expect((await running).result).toMatchObject({ stopReason: "aborted", details: { signal: "SIGKILL" } });
  expect(await isRunning(pid)).toBe(false);
});

test("everything printed at a terminal arrives, however much", async () => {
  const { text } = await exec("seq 1 200000; echo end");
  const lines = text.split("\n");
  expect([lines.length, lines[199_999], lines[200_000]]).toEqual([200_002, "200000", "end"]);
});

test("a background child that holds the terminal does not hold the call", async () => {
  const { text, result } = await exec("sleep 300 & echo $! > pid; echo done");
  expect(text).toBe("done\n");
  expect(result.note).toBe("[exit code 0]");
  expect(await isRunning(await readPid(join(workspaceDir, "pid")))).toBe(false);
});

test("where the package is missing the command is refused with what to do", async () => {
  const load = () => Promise.reject(new Error("Cannot find package '@lydell/node-pty'\nimported from somewhere"));
  await expect(startInTerminal({ file: "sh", args: [], cwd: "/", env: {} }, load)).rejects.toThrow(
    "a command with tty needs the package @lydell/node-pty, which could not be loaded (Cannot find package '@lydell/node-pty'); install it, or run the command without tty",
  );
});
