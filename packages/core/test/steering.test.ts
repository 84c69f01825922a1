import { expect, test } from "vitest";
import type { RunOptions, RunOutcome } from "../src/engine/run-outcome.ts";
import { defineTool } from "../src/environment/agent-tool.ts";
import { userImage, userText } from "../src/omnimessage/build.ts";
import { isType } from "../src/omnimessage/guards.ts";
import type { OmniMessage } from "../src/omnimessage/message.ts";
import type { Session } from "../src/session/session.ts";
import { collectRun, type ScriptedTurn, scriptedLLM, tempAgent } from "../src/testing/index.ts";
import { PIXEL } from "./support/adapter-kit.ts";

const allow = { approve: async () => "allow" as const };
const CALL = { calls: [{ name: "say", args: {} }] };

test("steering reaches the model with the next request, behind the outputs, in one block with its images behind it", async () => {
  const steering = [userText("not that way"), userImage(PIXEL), userText("this way")];
  const { requests, messages, outcome } = await run([CALL, "as you wish"], (session) => {
    expect(session.steer(steering)).toBe(true);
    expect(session.steer([])).toBe(true);
  });
  expect(requests[1]).toEqual([
    "tool_call_output: said",
    "text: [user_steering]\nnot that way\nthis way\n[/user_steering]",
    `image_url: ${PIXEL}`,
  ]);
  // Whoever watches sees when it was delivered.
  expect(messages.filter((message) => isType(message, "image_url"))).toHaveLength(1);
  expect(outcome).toMatchObject({ status: "completed", text: "as you wish", turns: 2 });
  expect(outcome).not.toHaveProperty("undelivered");
});

test("steering that comes with the last reply goes on with the task", async () => {
  const { requests, outcome } = await run(["done", "done again"], (session) => {
    session.steer([userText("and that?")]);
  });
  expect(requests).toEqual([["text: begin"], ["text: [user_steering]\nand that?\n[/user_steering]"]]);
  expect(outcome).toMatchObject({ status: "completed", text: "done again" });
});

test("a follow-up waits until the task would end, also where every output asks to stop, and is said as it was given", async () => {
  const stop = { calls: [{ name: "stop", args: {} }] };
  const { requests, outcome } = await run([CALL, stop, "and on"], (session) => {
    session.followUp([userText("then this")]);
  });
  expect(requests).toEqual([
    ["text: begin"],
    ["tool_call_output: said"],
    ["tool_call_output: stopped", "text: then this"],
  ]);
  expect(outcome).toMatchObject({ status: "completed", text: "and on" });
});

test("steering goes before follow-ups; one at a time leaves the others for later requests", async () => {
  const say = (session: Session): void => {
    for (const text of ["a", "b"]) session.followUp([userText(text)]);
    for (const text of ["1", "2"]) session.steer([userText(text)]);
  };
  const steered = (text: string): string => `text: [user_steering]\n${text}\n[/user_steering]`;
  const all = await run([CALL, "x", "y"], say);
  expect(all.requests.slice(1)).toEqual([
    ["tool_call_output: said", steered("1"), steered("2")],
    ["text: a", "text: b"],
  ]);
  const modes = { steering: "one-at-a-time", followUps: "one-at-a-time" } as const;
  const one = await run([CALL, "x", "y", "z", "end"], say, modes);
  expect(one.requests.slice(1)).toEqual([
    ["tool_call_output: said", steered("1")],
    [steered("2")],
    ["text: a"],
    ["text: b"],
  ]);
});

test("what was said can be taken back until it is delivered", async () => {
  const [kept, back] = [[userText("kept")], [userText("back")]];
  const { requests } = await run([CALL, "x"], (session) => {
    session.steer(kept);
    session.steer(back);
    expect(session.unsteer(back)).toBe(true);
    expect(session.unsteer(back)).toBe(false);
    expect(session.unsteer([userText("kept")])).toBe(false);
  });
  expect(requests[1]).toEqual(["tool_call_output: said", "text: [user_steering]\nkept\n[/user_steering]"]);
});

test.each([
  ["an interruption", [{ text: "one", hang: true } as const], {}, "aborted"],
  ["a limit of turns", [CALL], { maxTurns: 1 }, "failed"],
  ["a limit of turns that is reached with the last reply", ["done"], { maxTurns: 1 }, "completed"],
  ["a budget that is spent", [CALL], { maxCostUsd: 0.01 }, "failed"],
])("%s hands back what was not delivered", async (_, turns, options, status) => {
  const [steering, later] = [[userText("wait"), userImage(PIXEL)], [userText("later")]];
  const stop = new AbortController();
  const { outcome, session } = await run(
    turns,
    (running) => {
      running.steer(steering);
      running.followUp(later);
      stop.abort();
    },
    { ...(status === "aborted" && { signal: stop.signal }), ...options },
  );
  expect(outcome).toMatchObject({ status, undelivered: { steering: [steering], followUps: [later] } });
  expect(session.steer([userText("x")])).toBe(false);
});

test("outside of a run nothing is taken, and what no user says is misuse", async () => {
  await using home = await tempAgent({ createLLM: () => scriptedLLM("x") });
  const session = await home.agent.createSession(home);
  expect([session.steer([userText("x")]), session.followUp([userText("x")]), session.unsteer([])]).toEqual([
    false,
    false,
    false,
  ]);
  expect(() => session.steer([userText(" ")])).toThrow("the input is empty");
});

/** Runs `begin`; `say` is called once, with the first message that it does not let pass. */
async function run(
  turns: readonly ScriptedTurn[],
  say: (session: Session, message: OmniMessage) => void,
  options: RunOptions & { maxTurns?: number } = {},
): Promise<{ requests: string[][]; messages: readonly OmniMessage[]; outcome: RunOutcome; session: Session }> {
  const llm = scriptedLLM(...turns);
  await using home = await tempAgent({
    createLLM: () => llm,
    tools: [tool("say", "said"), tool("stop", "stopped", true)],
  });
  const session = await home.agent.createSession({ ...home, maxTurns: options.maxTurns ?? 0 });
  const watched = {
    traceFile: session.traceFile,
    async *run(...given: Parameters<Session["run"]>) {
      const running = session.run(...given);
      for (let isSaid = false; ; ) {
        const step = await running.next();
        if (step.done) return step.value;
        if (!isSaid && ["tool_call", "request_end", "text"].includes(step.value.payload.type ?? "")) {
          isSaid = true;
          say(session, step.value);
        }
        yield step.value;
      }
    },
  };
  const { messages, outcome } = await collectRun(watched, [userText("begin")], { ...allow, ...options });
  const requests = llm.requests.map(({ newMessages }) => newMessages.map(({ payload }) => lineOf(payload)));
  return { requests, messages, outcome, session };
}

function lineOf(payload: OmniMessage["payload"]): string {
  const { type, text, output, image_url: image } = payload as Record<string, string | undefined>;
  return `${type}: ${text ?? output ?? image}`;
}

function tool(name: string, text: string, terminate = false): ReturnType<typeof defineTool> {
  return defineTool({
    name,
    label: name,
    description: name,
    parameters: { type: "object", properties: {} },
    execute: async () => ({ content: [{ type: "text" as const, text }], details: undefined, terminate }),
  });
}
