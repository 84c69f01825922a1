import { expect, test } from "vitest";
import { defineTool } from "../src/environment/agent-tool.ts";
import type { LLMInterface } from "../src/llm/contract.ts";
import { modelMessage, userData, userImage, userText } from "../src/omnimessage/build.ts";
import type { OmniMessage } from "../src/omnimessage/message.ts";
import type { Session } from "../src/session/session.ts";
import { collectRun, type ScriptedTurn, scriptedLLM, tempAgent } from "../src/testing/index.ts";
import { PIXEL, PIXEL_DATA } from "./support/adapter-kit.ts";
import { conversationBreaches } from "./support/damaged-trace.ts";
import { remembering } from "./support/remembering.ts";

const NEVER = new Promise<never>(() => undefined);
const CALL = { calls: [{ name: "wait", args: {} }] };

interface Stage {
  readonly turns: readonly ScriptedTurn[];
  /** The first message of this kind interrupts; absent: the start of the first request. */
  readonly at?: (message: OmniMessage) => boolean;
  readonly approve?: () => Promise<"allow">;
  readonly compaction?: object;
}

const isOf =
  (type: string) =>
  ({ payload }: OmniMessage): boolean =>
    payload.type === type;

const silent: LLMInterface["streamGenerate"] = async function* ({ signal }) {
  await new Promise((resolve) => signal?.addEventListener("abort", resolve));
  return { status: "aborted" };
};

/** Begins to write the arguments of a call and waits. */
const writing: LLMInterface["streamGenerate"] = async function* ({ signal }) {
  const piece = (event_type: "start" | "delta", text: string): OmniMessage =>
    modelMessage({
      type: "partial_tool_call",
      role: "assistant",
      event_type,
      name: "wait",
      arguments: text,
      tool_call_id: "w",
    });
  yield piece("start", "");
  yield piece("delta", '{"a');
  await new Promise((resolve) => signal?.addEventListener("abort", resolve));
  return { status: "aborted" };
};

const STAGES: Readonly<Record<string, Stage>> = {
  "before the first byte": { turns: [silent] },
  "in the text": { turns: [{ text: "a long story", hang: true }], at: isOf("partial_text") },
  "in the arguments of a call": { turns: [writing], at: isOf("partial_tool_call") },
  "while a person is asked": { turns: [CALL], at: isOf("approval_request"), approve: () => NEVER },
  "while a tool runs": { turns: [CALL], at: isOf("approval_decision") },
  "while a tool runs and the model still speaks": {
    turns: [{ ...CALL, text: "first", hang: true }],
    at: isOf("tool_call"),
  },
  "while it waits for the next attempt": {
    turns: [{ text: "half", outcome: { status: "timeout", message: "silence", retryAfterMs: 50_000 } }],
    at: isOf("request_end"),
  },
  "while a summary is made": {
    turns: [
      { calls: [{ name: "say", args: {} }], usage: { total: 1000 } },
      { text: "half", hang: true },
    ],
    at: isOf("compaction_begin"),
    compaction: { maxContextTokens: 1000, keepOutputTokens: -1 },
  },
};

test.each(Object.keys(STAGES))(
  "after an interruption %s the next prompt works, and nothing that was said is lost",
  async (name) => {
    const {
      turns,
      at = isOf("request_begin"),
      approve = async () => "allow" as const,
      compaction = {},
    } = STAGES[name] ?? { turns: [] };
    const sent: OmniMessage[] = [];
    await using home = await tempAgent({ tools: [wait, say] });
    const llm = remembering(scriptedLLM(...turns, "fine"), sent);
    const session = await home.agent.createSession({ ...home, createLLM: () => llm, compaction });
    const stop = new AbortController();
    const steering = [userText("and quickly")];
    const input = [userText("begin"), userImage(PIXEL), userData(PIXEL_DATA, "image/png")];
    const stopping = interruptedBy(session, (message) => {
      if (!at(message) || stop.signal.aborted) return;
      session.steer(steering);
      stop.abort();
    });
    const { outcome } = await collectRun(stopping, input, { approve, signal: stop.signal });
    expect(outcome).toMatchObject({ status: "aborted", undelivered: { steering: [steering], followUps: [] } });

    const next = await collectRun(session, [userText("go on")], { approve: async () => "allow" as const });
    expect(next.outcome).toMatchObject({ status: "completed", text: "fine" });
    expect(conversationBreaches(sent)).toEqual([]);
    const said = JSON.stringify(sent.map(({ payload }) => payload));
    for (const part of ["begin", PIXEL, '"inline_data"', "go on"]) expect(said.split(part)).toHaveLength(2);
  },
);

const wait = tool("wait", (signal) => new Promise((resolve) => signal?.addEventListener("abort", resolve)));
const say = tool("say", async () => undefined);

function tool(
  name: string,
  work: (signal: AbortSignal | undefined) => Promise<unknown>,
): ReturnType<typeof defineTool> {
  return defineTool({
    name,
    label: name,
    description: name,
    parameters: { type: "object", properties: {} },
    execute: async (_id, _args, signal) => {
      await work(signal);
      return { content: [{ type: "text" as const, text: "done" }], details: undefined };
    },
  });
}

function interruptedBy(session: Session, look: (message: OmniMessage) => void): Pick<Session, "run" | "traceFile"> {
  return {
    traceFile: session.traceFile,
    async *run(...given) {
      const running = session.run(...given);
      for (let step = await running.next(); ; step = await running.next()) {
        if (step.done) return step.value;
        look(step.value);
        yield step.value;
      }
    },
  };
}
