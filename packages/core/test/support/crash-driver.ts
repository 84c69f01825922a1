import { spawn } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { isSessionMeta, isType } from "../../src/omnimessage/guards.ts";
import type { OmniMessage } from "../../src/omnimessage/message.ts";
import { type ProviderClientType, readTraceMessages, ruleViolations } from "../../src/testing/index.ts";
import { type StrictServer, startStrictServer } from "./strict-server.ts";

const STEPS = 15;
const AT_ONCE = 3;

const MODELS = {
  "openai-chat": ["deepseek-chat", "/v1"],
  "openai-responses": ["gpt-5.1", "/v1"],
  "anthropic-messages": ["claude-sonnet-4-5", ""],
  google: ["gemini-3-flash", ""],
} as const satisfies Record<ProviderClientType, readonly [string, string]>;

/** What came of a session that was killed again and again. */
export interface CrashReport {
  readonly kills: number;
  /** Whatever must not be, one sentence each. */
  readonly found: string[];
  readonly contexts: number;
  readonly requests: number;
  readonly lossWarnings: string[];
  /** The content of the workspace's files by name. */
  readonly files: Record<string, string>;
}

/**
 * Runs one session to its end, killing its process `kills` times at random moments and resuming it each time.
 *
 * @param directory - Empty; holds everything.
 */
export async function crashedSession(
  program: string,
  { directory, clientType, kills }: { directory: string; clientType: ProviderClientType; kills: number },
): Promise<CrashReport> {
  mkdirSync(join(directory, "workspace"), { recursive: true });
  const server = await startStrictServer({ scripts: { turns: answer, pace: 1 } });
  const found: string[] = [];
  let killed = 0;
  try {
    for (let processes = 1; ; processes++) {
      const ended = await runOnce(program, directory, clientType, server, killed < kills);
      if (ended === "killed") killed += 1;
      else if (ended !== "") found.push(ended);
      if (ended === "" && killed >= kills) break;
      if (ended === "") break;
      if (processes > kills + 20) {
        found.push(`not done after ${processes} processes`);
        break;
      }
    }
    const { violations, warnings, internal, log } = server;
    for (const { rule, message } of violations) found.push(`${rule}: ${message}`);
    for (const error of internal) found.push(String(error));
    for (const { body } of log) found.push(...twice(JSON.stringify(body)));
    const { record, all, contexts } = await readRecord(directory);
    found.push(...ruleViolations(all, { trace: true }), ...askedAgain(record), ...ranTwice(directory));
    const lossWarnings = warnings.map(({ rule, message }) => `${rule}: ${message}`);
    return {
      kills: killed,
      found,
      contexts,
      requests: log.length,
      lossWarnings,
      files: filesIn(join(directory, "workspace")),
    };
  } finally {
    await server.close();
  }
}

/** @returns `killed`, nothing when the task is over, or what went wrong. */
async function runOnce(
  program: string,
  directory: string,
  clientType: ProviderClientType,
  server: StrictServer,
  kill: boolean,
): Promise<string> {
  const [modelId, path] = MODELS[clientType];
  const child = spawn(process.execPath, [program, directory, clientType, modelId, server.url + path], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let out = "";
  let err = "";
  const exited = new Promise<string | null>((resolve) => child.once("close", (_code, signal) => resolve(signal)));
  const ready = new Promise<void>((resolve) => {
    child.stdout.on("data", (data) => {
      out += data;
      if (out.includes("ready\n")) resolve();
    });
    child.once("close", () => resolve());
  });
  child.stderr.on("data", (data) => (err += data));
  if (kill) {
    if (Math.random() < 0.9) await ready;
    await Promise.race([pause(Math.random() * KILL_WITHIN_MS), exited]);
    child.kill("SIGKILL");
  }
  if ((await exited) === "SIGKILL") return "killed";
  return out.endsWith("done\n") && err === "" ? "" : `the session ended: ${out.slice(-500)}${err.slice(-2000)}`;
}

const KILL_WITHIN_MS = 250;

/** The model: it does the steps that it does not see to be done, and breaks off now and then. */
function answer({ body, index }: { body: Record<string, unknown>; index: number }): object {
  const said = JSON.stringify(body);
  const messages = (body.messages ?? body.contents ?? body.input) as unknown[];
  const last = JSON.stringify(messages.at(-1));
  const done = new Set([...said.matchAll(DONE)].map(([, step, file]) => Number(step ?? file)));
  const fault = Math.random() < 0.2 ? FAULTS[index % FAULTS.length] : undefined;
  if (last.includes("Write the notes from which the work goes on")) {
    if (Math.random() < 0.15) return { tools: [stepCall(99)], fault };
    return { text: `[summary]${[...done].map((step) => `step-${step} is done`).join(", ")}[/summary]`, fault };
  }
  const next = Array.from({ length: STEPS }, (_, at) => at + 1)
    .filter((step) => !done.has(step))
    .slice(0, AT_ONCE);
  if (next.length === 0) return { text: "All steps are behind us.", fault };
  return { thinking: "What is next?", text: `Now ${next.length} more.`, tools: next.map(stepCall), fault };
}

const DONE = /step-(\d+) is done|\bw-(\d+)\.txt(?: is unchanged| \()/g;

const FAULTS = [
  { status: 503 },
  { reset: { after: 4 } },
  { eof: { after: "delta:9" } },
  { reset: { after: 12 } },
  { eof: true },
  { errorEvent: { after: 8 } },
  { status: 429, retryAfter: 0 },
  { malformed: { at: 7 } },
];

function stepCall(step: number): object {
  if (step % 3 === 0) return { name: "note", args: { step } };
  if (step % 3 === 1) {
    const cmd = `printf ${step} > cmd-${step}.txt; printf 'step-%s is done, receipt %s.\\n' ${step} "$(date +%N)$$"`;
    return { name: "exec_command", args: { description: "a step", cmd } };
  }
  return { name: "write_file", args: { file_path: `w-${step}.txt`, content: `${step}\n` } };
}

/** What a request says more than once. */
function twice(body: string): string[] {
  const receipts = [...body.matchAll(/is done, receipt (\w+)\./g)].map(([, receipt]) => receipt);
  return receipts.filter((receipt, at) => receipts.indexOf(receipt) !== at).map((receipt) => `fed twice: ${receipt}`);
}

/** Steps that the model took again although the record says that they were done. */
function askedAgain(record: readonly OmniMessage[]): string[] {
  const done = new Set<string>();
  const steps = new Map<string, string>();
  return record.flatMap((message) => {
    if (isType(message, "tool_call")) {
      const step = stepOf(message.payload.arguments);
      steps.set(message.payload.tool_call_id, step);
      return done.has(step) ? [`a result was lost: ${step} was done and is asked for again`] : [];
    }
    if (isType(message, "tool_call_output") && message.payload.stop_reason === "completed") {
      done.add(steps.get(message.payload.tool_call_id) ?? "");
    }
    return [];
  });
}

function stepOf(args: string): string {
  return /"step":(\d+)|cmd-(\d+)|w-(\d+)/.exec(args)?.slice(1).find(Boolean) ?? args;
}

function ranTwice(directory: string): string[] {
  const ids = readFileSync(join(directory, "calls"), "utf8").trimEnd().split("\n");
  return ids.filter((id, at) => ids.indexOf(id) !== at).map((id) => `call ${id} ran twice`);
}

/** The record with and without what its contexts were started with. */
async function readRecord(directory: string): Promise<{ record: OmniMessage[]; all: OmniMessage[]; contexts: number }> {
  const traces = join(directory, "root/default_project/agents/default_agent/traces");
  const record: OmniMessage[] = [];
  const all: OmniMessage[] = [];
  let contexts = 0;
  for (const session of readdirSync(traces)) {
    for (const file of readdirSync(join(traces, session))
      .filter((name) => name.endsWith(".jsonl"))
      .sort()) {
      const messages = await readTraceMessages(join(traces, session, file));
      const [head] = messages;
      contexts += 1;
      all.push(...messages);
      record.push(...messages.toSpliced(1, head && isSessionMeta(head) ? (head.payload.carried ?? 0) : 0));
    }
  }
  return { record, all, contexts };
}

function filesIn(directory: string): Record<string, string> {
  return Object.fromEntries(
    readdirSync(directory)
      .sort()
      .map((name) => [name, readFileSync(join(directory, name), "utf8")]),
  );
}
