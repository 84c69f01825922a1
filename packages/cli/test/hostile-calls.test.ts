import { type ChildProcessByStdio, spawn } from "node:child_process";
import { chmodSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { Readable, type Writable } from "node:stream";
import { isType, type OmniMessage, type ToolDefinition } from "@rookery/core";
import { ruleViolations, tempAgent } from "@rookery/core/testing";
import { expect, onTestFinished, test } from "vitest";
import { fileTree, makeHostileWorkspace } from "./support/file-tree.ts";
import { ENDLESS, type HostileLine, hostileLines } from "./support/hostile-lines.ts";

/** `ROOKERY_HOSTILE_CALLS=10000 ROOKERY_HOSTILE_SEED=7 npx vitest run packages/cli/test/hostile-calls.test.ts` tries more. */
const { ROOKERY_HOSTILE_CALLS = "150", ROOKERY_HOSTILE_SEED = "1" } = process.env;
const CALLS_PER_SAMPLE = 250;

test.each(["standard", "minimal"])(
  "however hostile the calls of %s are, each has one complete output, only files that they name change, and nothing is left running",
  async (toolset) => {
    const parent = realpathSync(mkdtempSync(join(tmpdir(), "rookery-hostile-")));
    const watched = join(parent, "watched");
    const workspace = makeHostileWorkspace(watched);
    onTestFinished(() => {
      chmodSync(join(workspace, "locked"), 0o755);
      rmSync(parent, { recursive: true });
    });
    const tools = await toolsOf(toolset);
    const lines = hostileLines(tools, Number(ROOKERY_HOSTILE_CALLS), Number(ROOKERY_HOSTILE_SEED));
    const before = fileTree(watched);

    const flags = ["--toolset", toolset, "--workspace", workspace, "--root", join(parent, "root")];
    const child = startRookery(["tool", "call", "-", "--output", "stream-json", ...flags], join(watched, "home"));
    const ended = new Promise((resolve) => child.once("close", resolve));
    Readable.from(lines.map(({ text }) => `${text}\n`)).pipe(child.stdin);
    const { calls, outputs, breaches, memoryMiB } = await readAnswers(child);

    expect({ exitCode: await ended, breaches }).toEqual({ exitCode: 1, breaches: [] });
    expect({ calls, outputs }).toEqual({ calls: lines.length, outputs: lines.length });
    const named = namedPaths(workspace, lines);
    expect(changedPaths(before, fileTree(watched)).filter((path) => !named.has(path))).toEqual([]);
    expect(processesOf(ENDLESS)).toEqual([]);
    // A short run tells how much a program takes, and not what it keeps.
    if (memoryMiB.length > 1) process.stderr.write(`${toolset}: ${outputs} outputs, MiB: ${memoryMiB.join(" ")}\n`);
  },
  3_600_000,
);

async function toolsOf(toolset: string): Promise<ToolDefinition[]> {
  await using temp = await tempAgent({ toolset });
  return await (await temp.agent.createToolRunner({ workspaceDir: temp.workspaceDir })).listTools();
}

type Child = ChildProcessByStdio<Writable, Readable, null>;

/** The command from its source. */
function startRookery(args: readonly string[], home: string): Child {
  const node = ["--conditions=rookery-source", "--import", "tsx", resolve(import.meta.dirname, "../src/main.ts")];
  return spawn(process.execPath, [...node, ...args], {
    cwd: resolve(import.meta.dirname, "../../.."),
    env: { PATH: process.env.PATH, HOME: home },
    stdio: ["pipe", "pipe", "inherit"],
  });
}

/** Reads the messages of all calls, and takes the program's memory from time to time. */
async function readAnswers({ stdout, pid }: Child) {
  const answers = { calls: 0, outputs: 0, breaches: [] as string[], memoryMiB: [] as number[] };
  let call: OmniMessage[] = [];
  const endCall = (): void => {
    answers.breaches.push(
      ...ruleViolations(call).map((breach) => `${breach} of ${JSON.stringify(call).slice(0, 500)}`),
    );
    call = [];
  };
  for await (const line of createInterface({ input: stdout, crlfDelay: Number.POSITIVE_INFINITY })) {
    const message: OmniMessage = JSON.parse(line);
    if (isType(message, "tool_call")) {
      endCall();
      if (answers.calls++ % CALLS_PER_SAMPLE === 0) answers.memoryMiB.push(residentMiB(pid));
    }
    if (isType(message, "tool_call_output")) answers.outputs++;
    call.push(message);
  }
  endCall();
  return answers;
}

function residentMiB(pid: number | undefined): number {
  try {
    const [, kibibytes] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
    return Math.round(Number(kibibytes) / 1024);
  } catch {
    return Number.NaN;
  }
}

/** The real paths that the lines name, their other hard link, and the directories on the way. */
function namedPaths(workspace: string, lines: readonly HostileLine[]): Set<string> {
  const named = new Set<string>();
  for (const name of new Set(
    lines.flatMap(({ named = "\0" }) => (named.includes("\0") ? [] : [Buffer.from(named).toString()])),
  )) {
    for (let path = realPathOf(resolve(workspace, name)); path !== dirname(path); path = dirname(path)) named.add(path);
  }
  const twins = ["a.txt", "twin"].map((name) => join(workspace, name));
  if (twins.some((path) => named.has(path))) for (const path of twins) named.add(path);
  return named;
}

function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path === dirname(path) ? path : join(realPathOf(dirname(path)), basename(path));
  }
}

function changedPaths(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): string[] {
  return [...new Set([...before.keys(), ...after.keys()])].filter((path) => before.get(path) !== after.get(path));
}

function processesOf(command: string): string[] {
  if (process.platform !== "linux") return [];
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
      } catch {
        return "";
      }
    })
    .filter((line) => line.startsWith(command));
}
