import { once } from "node:events";
import { mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { EnvironmentInterface, ToolExecutionRequest } from "../environment/contract.ts";
import { Environment } from "../environment/environment.ts";
import { findToolset } from "../environment/toolset-registry.ts";
import { eventMessage, modelMessage } from "../omnimessage/build.ts";
import { isType } from "../omnimessage/guards.ts";
import type { OmniMessage, StopReason } from "../omnimessage/message.ts";
import { environmentViolations } from "./check-environment.ts";
import type { SampleCall } from "./environment/sample-calls.ts";

const description = "Tries.";
test.for<{ toolset: string; calls: SampleCall[]; endlessCalls: SampleCall[] }>([
  {
    toolset: "standard",
    calls: [
      { name: "exec_command", arguments: { description, cmd: "echo a; echo b >&2" } },
      { name: "exec_command", arguments: { description, cmd: "sleep 600", run_in_background: true } },
      { name: "input_command", arguments: { description, process_id: "proc-0", yield_time_ms: 250 } },
      { name: "read_file", arguments: { file_path: "a.txt" } },
      { name: "edit_file", arguments: { file_path: "a.txt", old_string: "one", new_string: "one two" } },
      { name: "write_file", arguments: { file_path: "new/b.txt", content: "b" } },
    ],
    endlessCalls: [{ name: "exec_command", arguments: { description, cmd: "echo a; sleep 600" } }],
  },
  {
    toolset: "minimal",
    calls: [
      { name: "bash", arguments: { command: "echo a; exit 3" } },
      { name: "read", arguments: { path: "a.txt" } },
      { name: "edit", arguments: { path: "a.txt", startLine: 1, endLine: 1, content: "one" } },
      { name: "write", arguments: { path: "new/b.txt", content: "b" } },
    ],
    endlessCalls: [{ name: "bash", arguments: { command: "echo a; sleep 600" } }],
  },
])(
  "the environment keeps its contract with the toolset $toolset (PT-028, PC-054, PC-055, PC-056)",
  async ({ toolset, calls, endlessCalls }) => {
    const workspaceDir = await realpath(await mkdtemp(join(tmpdir(), "conformance-")));
    onTestFinished(() => rm(workspaceDir, { recursive: true }));
    await writeFile(join(workspaceDir, "a.txt"), "one\n");
    const customTools = findToolset(toolset).tools.map(({ definition }) => definition);
    const make = () => new Environment({ workspaceDir, toolset, toolConfig: { customTools, mcpServers: [] } });
    expect(await environmentViolations(make, { calls, endlessCalls })).toEqual([]);
  },
);

const NAMES = ["echo", "wait"];
const boom = (): never => {
  throw new Error("boom");
};
const fragment = (tool_call_id: string, event_type: "start" | "delta" | "stop", output = ""): OmniMessage =>
  modelMessage({ type: "partial_tool_call_output", role: "user", event_type, output, tool_call_id });
const complete = (tool_call_id: string, output: string, stop_reason: StopReason = "completed"): OmniMessage =>
  modelMessage({ type: "tool_call_output", role: "user", output, tool_call_id, stop_reason });
const idOf = ({ toolCall }: ToolExecutionRequest): string => toolCall.payload.tool_call_id;

/** Keeps the contract, and does not say what a call would do. */
function soundEnvironment(): EnvironmentInterface {
  const disposed = new AbortController();
  const parameters = { type: "object", properties: { text: { type: "string" } }, required: ["text"] };
  return {
    listTools: async () => NAMES.map((name) => ({ name, description: "Says it.", parameters })),
    toolPermission: (name) => (NAMES.includes(name) ? "r" : undefined),
    async *executeTool({ toolCall, signal = new AbortController().signal }) {
      const { name, arguments: text, tool_call_id: id } = toolCall.payload;
      const canRun = NAMES.includes(name) && /^\{"/.test(text);
      yield fragment(id, "start");
      if (canRun && name === "wait") await stopped(AbortSignal.any([signal, disposed.signal]));
      yield fragment(id, "delta", text);
      const stopReason = signal.aborted ? "aborted" : canRun ? "completed" : "failed";
      yield fragment(id, "stop");
      yield complete(id, text, stopReason);
    },
    dispose: () => disposed.abort(),
  };
}

async function stopped(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, "abort");
}

const samples = {
  calls: [{ name: "echo", arguments: { text: "a" } }],
  endlessCalls: [{ name: "wait", arguments: { text: "b" } }],
};

test("an environment that says whole outputs, or in fragments, and has no assessCall keeps the contract", async () => {
  expect(await environmentViolations(soundEnvironment, samples)).toEqual([]);
  const whole = (sound: EnvironmentInterface): EnvironmentInterface["executeTool"] =>
    async function* (request) {
      for await (const message of sound.executeTool(request)) if (isType(message, "tool_call_output")) yield message;
    };
  const make = () => {
    const sound = soundEnvironment();
    return { ...sound, executeTool: whole(sound) };
  };
  expect(await environmentViolations(make, samples)).toEqual([]);
});

type Execute = EnvironmentInterface["executeTool"];
type Change = (sound: EnvironmentInterface) => Partial<EnvironmentInterface>;

/** What a broken environment says of each call. */
const saying =
  (messages: (id: string) => OmniMessage[]): Change =>
  () => ({
    async *executeTool(request) {
      yield* messages(idOf(request));
    },
  });

/** Breaks the calls for which something holds; the others are those of the sound one. */
const when =
  (holds: (request: ToolExecutionRequest) => boolean, broken: Execute): Change =>
  (sound) => ({ executeTool: (request) => (holds(request) ? broken(request) : sound.executeTool(request)) });

const soundOutput: Execute = async function* (request) {
  yield fragment(idOf(request), "start");
  yield fragment(idOf(request), "stop");
  yield complete(idOf(request), "");
};

// biome-ignore lint/correctness/useYield: it says nothing.
const throwing: Execute = async function* () {
  boom();
};

test.concurrent.for<[what: string, change: Change, found: RegExp]>([
  ["listTools rejects", () => ({ listTools: async () => boom() }), /listTools\(\) throws: boom/],
  ["listTools is no list", () => ({ listTools: async () => ({}) as never }), /does not resolve to definitions/],
  [
    "two tools have one name",
    (sound) => ({ listTools: async () => [...(await sound.listTools()), ...(await sound.listTools())] }),
    /has two tools named "echo"/,
  ],
  ["toolPermission throws", () => ({ toolPermission: boom }), /toolPermission\("echo"\) throws: boom/],
  ["toolPermission knows every name", () => ({ toolPermission: () => "r" }), /toolPermission\("__proto__"\) is "r"/],
  ["assessCall rejects", () => ({ assessCall: async () => boom() }), /assessCall of .* throws: boom/],
  ["assessCall throws at once", () => ({ assessCall: boom }), /assessCall of .* throws: boom/],
  ["assessCall answers nothing", () => ({ assessCall: async () => undefined as never }), /does not resolve to \{ risk/],
  ["executeTool throws at once", () => ({ executeTool: boom }), /executeTool of .* throws: boom/],
  [
    "executeTool is no generator",
    () => ({ executeTool: () => undefined as never }),
    /does not return an async generator/,
  ],
  [
    "executeTool promises its generator",
    (sound) => ({ executeTool: (async (request: ToolExecutionRequest) => sound.executeTool(request)) as never }),
    /does not return an async generator/,
  ],
  [
    "executeTool answers no steps",
    () => ({ executeTool: () => ({ next: async () => undefined }) as never }),
    /does not return an async generator/,
  ],
  [
    "toolPermission is a promise",
    () => ({ toolPermission: async () => "r" }) as never,
    /toolPermission\("echo"\) is \{\}/,
  ],
  ["executeTool rejects", () => ({ executeTool: throwing }), /executeTool of .* throws: boom/],
  [
    "arguments that are no JSON make it reject",
    when(({ toolCall }) => !/^[{[]/.test(toolCall.payload.arguments), throwing),
    /^arguments that are no JSON object: executeTool of "echo" with "no JSON" throws: boom/,
  ],
  [
    "an unknown tool makes it reject",
    when(({ toolCall }) => !NAMES.includes(toolCall.payload.name), throwing),
    /^unknown tools: executeTool of "constructor" with "\{\}" throws: boom/,
  ],
  ["a call that cannot run completes", saying((id) => [complete(id, "done")]), /"no_such_tool" with "\{\}" completes/],
  ["there is no output", saying(() => []), /there is no complete output/],
  [
    "there are two outputs",
    saying((id) => [complete(id, "a", "failed"), complete(id, "b", "failed")]),
    /tool_call_output comes after the complete output/,
  ],
  [
    "a fragment comes after the output",
    saying((id) => [complete(id, "a", "failed"), fragment(id, "start"), fragment(id, "stop")]),
    /partial_tool_call_output comes after the complete output/,
  ],
  ["the stream is not closed", saying((id) => [fragment(id, "start"), complete(id, "", "failed")]), /before its stop/],
  ["there is no start", saying((id) => [fragment(id, "delta", "a"), complete(id, "a", "failed")]), /without a start/],
  [
    "the deltas are not the output",
    saying((id) => [
      fragment(id, "start"),
      fragment(id, "delta", "a"),
      fragment(id, "stop"),
      complete(id, "b", "failed"),
    ]),
    /the joined deltas differ/,
  ],
  [
    "it answers for another call",
    saying((id) => [complete("another", "a"), complete(id, "a", "failed")]),
    /tool_call_output is not for this call to say/,
  ],
  [
    "it says what is the engine's to say",
    saying((id) => [eventMessage({ type: "abort", reason: "mine" }), complete(id, "a", "failed")]),
    /abort is not for this call to say/,
  ],
  [
    "a message has no form",
    saying((id) => [{ payload: {} } as never, complete(id, "a", "failed")]),
    /format: message 1/,
  ],
  [
    "an interruption makes it reject",
    when(({ signal }) => signal?.aborted === true, throwing),
    /^an abort before the call: executeTool of "echo" .* throws: boom/,
  ],
  [
    "it does not stop when it is aborted",
    () => {
      const sound = soundEnvironment();
      return { executeTool: ({ toolCall }) => sound.executeTool({ toolCall }) };
    },
    /^an abort during the call: executeTool of "wait" .* gives no answer within 200 ms/,
  ],
  [
    "a call that was aborted has completed",
    when(({ signal }) => signal !== undefined, soundOutput),
    /executeTool of "wait" .*, which goes on until it is stopped, ends as completed/,
  ],
  [
    "it never comes to an end",
    () => ({
      async *executeTool(request) {
        for (;;) yield eventMessage({ type: "tool_progress", tool_call_id: idOf(request), text: "." });
      },
    }),
    /goes on for more than 200 ms/,
  ],
  [
    "a reader that leaves makes it reject",
    () => ({
      async *executeTool(request) {
        let whole = false;
        try {
          yield* soundOutput(request);
          whole = true;
        } finally {
          if (!whole) boom();
        }
      },
    }),
    /^a reader that leaves: return\(\) in executeTool of "echo" .* throws: boom/,
  ],
  [
    "a reader that leaves breaks the next call",
    (sound) => {
      let broken = false;
      return {
        async *executeTool(request) {
          const wasBroken = broken;
          broken = true;
          yield* wasBroken ? throwing(request) : sound.executeTool(request);
          broken = false;
        },
      };
    },
    /^a reader that leaves: executeTool of "echo" .* throws: boom/,
  ],
  [
    "calls at once are mixed up",
    () => {
      let current = "";
      return {
        async *executeTool(request) {
          current = idOf(request);
          await Promise.resolve();
          yield complete(current, "a", "failed");
        },
      };
    },
    /^calls at once: executeTool of "echo" .*: there is no complete output/,
  ],
  [
    "the second call of one id is not answered",
    (sound) => {
      const seen = new Set<string>();
      return {
        async *executeTool(request) {
          if (seen.has(idOf(request))) return;
          seen.add(idOf(request));
          yield* sound.executeTool(request);
        },
      };
    },
    /^one id for several calls: executeTool of "echo" .*: there is no complete output/,
  ],
  ["dispose throws", () => ({ dispose: boom }), /^dispose: dispose\(\) throws: boom/],
  [
    "the second dispose rejects",
    () => {
      let disposals = 0;
      return { dispose: async () => void (++disposals > 1 && boom()) };
    },
    /^dispose: dispose\(\) throws: boom/,
  ],
  [
    "dispose never comes back",
    () => ({ dispose: () => new Promise<never>(() => undefined) }),
    /^dispose: .* no answer/,
  ],
  [
    "dispose leaves a call running",
    () => ({ dispose: () => undefined }),
    /^dispose: executeTool of "wait" .* gives no answer within 200 ms/,
  ],
  [
    "neither dispose nor a call comes back",
    (sound) => ({
      dispose: () => new Promise<never>(() => undefined),
      executeTool: ({ toolCall }) => sound.executeTool({ toolCall }),
    }),
    /^dispose: executeTool of "wait" .* gives no answer within 200 ms/,
  ],
  [
    "it throws once it is disposed of",
    (sound) => {
      let disposed = false;
      return {
        listTools: () => (disposed ? boom() : sound.listTools()),
        dispose: () => {
          disposed = true;
          return sound.dispose?.();
        },
      };
    },
    /^dispose: listTools\(\) throws: boom/,
  ],
])("that %s is found", async ([, change, found], { expect }) => {
  const make = () => {
    const sound = soundEnvironment();
    return { ...sound, ...change(sound) };
  };
  // Where nothing has to be waited for, a slow machine has all the time it needs.
  const timeoutMs = / ms|no answer/.test(found.source) ? 200 : 20_000;
  const { calls, endlessCalls } = samples;
  const options = { calls, ...(/"wait"/.test(found.source) && { endlessCalls }), timeoutMs };
  expect((await environmentViolations(make, options)).join("\n")).toMatch(new RegExp(found, "m"));
});
