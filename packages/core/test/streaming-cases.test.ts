import { expect, test } from "vitest";
import { userText } from "../src/omnimessage/build.ts";
import { ofType } from "../src/omnimessage/guards.ts";
import { type CollectedRun, collectRun, tempAgent } from "../src/testing/index.ts";
import { impatient } from "./support/impatient-session.ts";
import { type StrictServer, startStrictServer } from "./support/strict-server.ts";
import { echoTool } from "./support/test-tools.ts";

const MODELS = {
  "openai-chat": "deepseek-chat",
  "openai-responses": "gpt-5.1",
  "anthropic-messages": "claude-sonnet-4-5",
  google: "gemini-3-pro-preview",
} as const;
type ClientType = keyof typeof MODELS;
const CLIENT_TYPES = Object.keys(MODELS) as ClientType[];
/** Google's arguments come as objects: there is no text of them to be broken. */
const WITH_ARGUMENT_TEXT = CLIENT_TYPES.filter((clientType) => clientType !== "google");

test.each(CLIENT_TYPES)(
  "over %s a call without arguments runs with {}, and goes back so (PC-051)",
  async (clientType) => {
    const tools = [[], [""]].map((pieces) => ({ name: "look", args: {}, pieces }));
    const { outcome, server, ran } = await runOver(clientType, [{ tools }, "Done."]);
    expect(outcome).toMatchObject({ status: "completed", text: "Done." });
    expect(ran).toEqual([{}, {}]);
    expect(complaints(server)).toEqual([]);
  },
);

test.each(CLIENT_TYPES)("over %s calls whose pieces arrive mixed run with their own arguments", async (clientType) => {
  const tools = ["first", "second", "third"].map((text) => ({ name: "look", args: { text: text.repeat(5) } }));
  const { outcome, server, ran } = await runOver(clientType, [
    { text: "Reading", tools, interleave: true, chunk: 3 },
    "Done.",
  ]);
  expect(outcome).toMatchObject({ status: "completed", text: "Done." });
  expect(ran).toEqual(tools.map(({ args }) => args));
  expect(complaints(server)).toEqual([]);
});

const BREAKS = [
  ["ends inside a call", { eof: {} }, "malformed"],
  ["ends inside an event of a call", { eof: { midFrame: true } }, "malformed"],
  ["has an error event inside a call", { errorEvent: { kind: "overloaded" } }, "timeout"],
  ["is reset inside a call", { reset: {} }, "timeout"],
] as const;

test.each(CLIENT_TYPES.flatMap((clientType) => BREAKS.map((broken) => [clientType, ...broken] as const)))(
  "over %s a reply that %s is no answer: nothing runs, it is asked for again, and the second is held alone (PC-021, PC-022, PC-028)",
  async (clientType, _, fault, status) => {
    const reply = { text: "Now.", tools: [{ name: "look", args: { text: "at all of this" } }], chunk: 4 };
    // Google's calls come whole; without the end of the reply they are no better.
    const after = clientType === "google" ? "finish" : "delta:3";
    const broken = Object.fromEntries(Object.entries(fault).map(([kind, options]) => [kind, { after, ...options }]));
    const script = [{ ...reply, fault: broken }, { text: "Now I see." }, "And on."];
    const { outcome, trace, server, ran } = await runOver(clientType, script, ["Look.", "Go on."]);
    const ends = ofType(trace, "request_end").map(({ payload }) => payload.status);
    expect(ends).toEqual([status, "completed", "completed"]);
    expect(outcome).toMatchObject({ status: "completed", text: "And on." });
    expect(ran).toEqual([]);
    const sent = JSON.stringify(server.log.at(-1)?.body);
    expect([sent.split("Now I see.").length, sent.includes("Now."), sent.includes("at all")]).toEqual([
      2,
      false,
      false,
    ]);
    expect(complaints(server)).toEqual([]);
  },
);

test.each(WITH_ARGUMENT_TEXT)(
  "over %s arguments that are no JSON object are an error each, the other call runs, and all four are answered",
  async (clientType) => {
    const broken = ['{"text": "a", "more": }', "null", '["ls"]'];
    const tools = [...broken.map((argsText) => ({ name: "look", argsText })), { name: "look", args: { text: "good" } }];
    const { outcome, trace, server, ran } = await runOver(clientType, [{ tools }, "Done."]);
    expect(outcome).toMatchObject({ status: "completed", text: "Done." });
    expect(ran).toEqual([{ text: "good" }]);
    const outputs = ofType(trace, "tool_call_output").map(({ payload }) => payload);
    expect(outputs.map(({ stop_reason }) => stop_reason).toSorted()).toEqual([
      "completed",
      "failed",
      "failed",
      "failed",
    ]);
    for (const { output, stop_reason } of outputs) {
      if (stop_reason === "failed") expect(output).toMatch(/^.{0,300}JSON/);
    }
    expect(server.violations).toEqual([]);
    expect(JSON.stringify(server.log[1]?.body).split("JSON").length).toBeGreaterThan(3);
  },
);

test.each(CLIENT_TYPES)(
  "over %s a wait that the provider asks for is announced, in seconds and as a date; without one waits grow (PC-021)",
  async (clientType) => {
    const busy = { status: 429, message: "slow down" };
    const faults = [{ ...busy, retryAfter: 3 }, { ...busy, retryAfter: "date:30" }, { status: 529 }, { status: 529 }];
    const { outcome, trace } = await runOver(clientType, [{ text: "ok", faults }]);
    expect(outcome).toMatchObject({ status: "completed", text: "ok" });
    const waits = ofType(trace, "request_end").map(({ payload }) => payload.retry_in_ms ?? 0);
    expect(waits).toHaveLength(5);
    expect(waits[0]).toBe(3000);
    expect(waits[1]).toSatisfy((ms: number) => ms > 20_000 && ms <= 30_000);
    expect(waits[2]).toBeLessThan(waits[3] ?? 0);
    expect(ofType(trace, "request_end").map(({ payload }) => payload.attempt)).toEqual([1, 2, 3, 4, undefined]);
  },
);

test.each(CLIENT_TYPES)("over %s a wait of a day is not begun: the run ends and names it", async (clientType) => {
  const fault = { status: 429, message: "slow down", retryAfter: 86_400 };
  const { outcome, server } = await runOver(clientType, [{ fault }, "never"]);
  expect(outcome).toMatchObject({ status: "failed", code: "retries-exhausted" });
  expect(outcome.message).toMatch(
    /^the provider asks to wait 86400 s before the next request \(.*slow down.*\); try again then$/,
  );
  expect(server.log).toHaveLength(1);
});

interface RunOver extends CollectedRun {
  readonly server: StrictServer;
  /** The arguments of the calls of the tool `look` that ran, in the order of the calls. */
  readonly ran: readonly unknown[];
}

/** Runs tasks of one session over a protocol, whose server answers by a script; no wait between attempts is waited for. */
async function runOver(clientType: ClientType, turns: readonly unknown[], tasks = ["Look."]): Promise<RunOver> {
  const server = await startStrictServer({ scripts: { default: turns } });
  const ran: unknown[] = [];
  const look = { ...echoTool("look"), parameters: { type: "object", properties: { text: { type: "string" } } } };
  const execute: typeof look.execute = (id, params, ...rest) => {
    ran.push(params);
    return look.execute(id, params, ...rest);
  };
  await using temp = await tempAgent({ env: { CUSTOM_API_KEY: "any" }, tools: [{ ...look, execute }] });
  const session = await temp.agent.createSession({
    workspaceDir: temp.workspaceDir,
    provider: "custom",
    modelId: MODELS[clientType],
    clientType,
    baseUrl: clientType.startsWith("openai") ? `${server.url}/v1` : server.url,
  });
  let run: CollectedRun | undefined;
  for (const task of tasks) {
    run = await collectRun(impatient(session), [userText(task)], { approve: async () => "allow" });
  }
  await server.close();
  if (!run) throw new Error("there is no task to run");
  return { ...run, server, ran };
}

function complaints({ violations, warnings, internal }: StrictServer): unknown[] {
  return [...violations, ...warnings, ...internal];
}
