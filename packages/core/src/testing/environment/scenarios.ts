import { setTimeout as pause } from "node:timers/promises";
import type { ToolDefinition } from "../../omnimessage/message.ts";
import {
  described,
  forbiddenArguments,
  type SampleCall,
  unknownTools,
  unreadableArguments,
  type WrittenCall,
  withHostileKeys,
  written,
} from "./sample-calls.ts";
import type { WatchedEnvironment } from "./watched-environment.ts";

/** What is tried on an environment. */
export interface Trial {
  readonly environment: WatchedEnvironment;
  readonly report: (breach: string) => void;
  readonly calls: readonly SampleCall[];
  readonly endlessCalls: readonly SampleCall[];
}

type Scenario = (trial: Trial) => Promise<void>;

/** By what is tried; each is given an environment of its own. */
export const scenarios: Readonly<Record<string, Scenario>> = {
  "the list of tools": listTools,
  "unknown tools": callUnknownTools,
  "arguments that are no JSON object": sendUnreadableArguments,
  "arguments that the schema forbids": sendForbiddenArguments,
  "calls one by one": callOneByOne,
  "calls at once": callAtOnce,
  "one id for several calls": repeatId,
  "an abort before the call": abortBefore,
  "an abort during the call": abortDuring,
  "a reader that leaves": leave,
  dispose,
};

async function listTools({ environment, report }: Trial): Promise<void> {
  const tools = await environment.listTools();
  const names = tools.map(({ name }) => name);
  for (const name of new Set(names.filter((name, at) => names.indexOf(name) !== at))) {
    report(`listTools() has two tools named ${JSON.stringify(name)}`);
  }
  for (const name of names) await environment.checkPermission(name, ["r", "rw"]);
  for (const { name } of unknownTools(tools)) await environment.checkPermission(name, [undefined]);
}

async function callUnknownTools({ environment, report }: Trial): Promise<void> {
  for (const call of unknownTools(await environment.listTools())) {
    await mustNotRun(environment, call, report);
  }
}

async function sendUnreadableArguments({ environment, report }: Trial): Promise<void> {
  for (const tool of await environment.listTools()) {
    for (const call of unreadableArguments(tool)) await mustNotRun(environment, call, report);
  }
}

async function mustNotRun(environment: WatchedEnvironment, call: WrittenCall, report: Trial["report"]): Promise<void> {
  if ((await environment.run(call)) === "completed") report(`executeTool of ${described(call)} completes`);
}

/** How lenient an environment is, is its own matter; what it does run, is stopped. */
async function sendForbiddenArguments({ environment, calls }: Trial): Promise<void> {
  for (const tool of await environment.listTools()) {
    for (const call of forbiddenArguments(tool, calls)) {
      await environment.run(call, { signal: AbortSignal.timeout(UNDER_WAY_MS) });
    }
  }
}

async function callOneByOne({ environment, calls }: Trial): Promise<void> {
  for (const call of calls) {
    await environment.run(written(call));
    await environment.run(withHostileKeys(call));
  }
}

async function callAtOnce({ environment, calls }: Trial): Promise<void> {
  const all = [...calls, ...calls].map(written);
  const bad = badCall(await environment.listTools());
  await Promise.all([...all, ...bad, ...all].map((call) => environment.run(call)));
}

function badCall(tools: readonly ToolDefinition[]): WrittenCall[] {
  return tools.slice(0, 1).map(({ name }) => ({ name, text: "no JSON" }));
}

async function repeatId({ environment, calls }: Trial): Promise<void> {
  for (const call of [...calls.map(written), ...badCall(await environment.listTools())]) {
    await environment.run(call, { id: "call_again" });
    await environment.run(call, { id: "call_again" });
    await Promise.all([1, 2].map(() => environment.run(call, { id: "call_again" })));
  }
}

async function abortBefore({ environment, calls, endlessCalls }: Trial): Promise<void> {
  for (const call of [...calls, ...endlessCalls]) {
    await environment.run(written(call), { signal: AbortSignal.abort() });
  }
}

async function abortDuring({ environment, report, calls, endlessCalls }: Trial): Promise<void> {
  for (const call of calls) {
    const controller = new AbortController();
    await environment.run(written(call), { signal: controller.signal, onMessage: () => controller.abort() });
  }
  for (const call of endlessCalls.map(written)) {
    const controller = new AbortController();
    const ended = later(environment.run(call, { signal: controller.signal }));
    await pause(UNDER_WAY_MS);
    controller.abort();
    const stopReason = await ended;
    if (stopReason === undefined || stopReason === "aborted") continue;
    report(`executeTool of ${described(call)}, which goes on until it is stopped, ends as ${stopReason}`);
  }
}

/** What is awaited only after something else; that it rejects is no news until then. */
function later<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined);
  return promise;
}

/** What a call that goes on is given to begin. */
const UNDER_WAY_MS = 100;

/** After the first message; a call that says none before its end is stopped. The next call finds all as before. */
async function leave({ environment, calls, endlessCalls }: Trial): Promise<void> {
  for (const call of [...calls, ...endlessCalls]) {
    const signal = AbortSignal.timeout(UNDER_WAY_MS);
    await environment.run(written(call), { signal, onMessage: () => "leave" });
  }
  for (const call of calls) await environment.run(written(call));
}

/** While calls are under way, twice at once, and again; then everything that may be asked. */
async function dispose({ environment, calls, endlessCalls }: Trial): Promise<void> {
  const tools = await environment.listTools();
  const running = endlessCalls.map((call) => later(environment.run(written(call))));
  if (running.length > 0) await pause(UNDER_WAY_MS);
  await Promise.all([environment.dispose(), environment.dispose()]);
  await environment.dispose();
  await Promise.all(running);
  await environment.listTools();
  for (const { name } of tools) await environment.checkPermission(name, ["r", "rw", undefined]);
  for (const call of [...calls.map(written), ...badCall(tools), ...unknownTools(tools).slice(0, 2)]) {
    await environment.run(call);
  }
}
