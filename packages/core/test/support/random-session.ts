import fc from "fast-check";
import type { SessionOptions } from "../../src/agent/agent-options.ts";
import { defineTool } from "../../src/environment/agent-tool.ts";
import type { CreateLLM, LLMOutcome } from "../../src/llm/contract.ts";
import { userImage, userText } from "../../src/omnimessage/build.ts";
import { isCompleteModelMessage, isType } from "../../src/omnimessage/guards.ts";
import type { OmniMessage } from "../../src/omnimessage/message.ts";
import type { Session } from "../../src/session/session.ts";
import { type ScriptedReply, scriptedLLM, type TempAgent } from "../../src/testing/index.ts";
import { PIXEL, PIXEL_DATA } from "./adapter-kit.ts";

/** What happens in a session: replies, failures, interruptions, steering, and compactions of every kind. */
export interface SessionPlan {
  readonly replies: readonly ScriptedReply[];
  readonly summaries: readonly ScriptedReply[];
  readonly steps: readonly PlannedStep[];
  readonly compaction: NonNullable<SessionOptions["compaction"]>;
}

/** One run; the numbers are messages of its stream, -1 for never. */
export interface PlannedStep {
  readonly text: string;
  readonly image: boolean;
  /** Nothing is said, and the context is compacted. */
  readonly compact: boolean;
  readonly abortAt: number;
  readonly steerAt: number;
  readonly followUpAt: number;
}

const AT_ONCE = { retryAfterMs: 0 } as const;
const outcome = fc.constantFrom<LLMOutcome>(
  { status: "malformed", message: "broke off", ...AT_ONCE },
  { status: "failed", message: "busy", ...AT_ONCE },
  { status: "timeout", message: "slow", ...AT_ONCE },
  { status: "failed", message: "no", permanent: true },
  { status: "failed", message: "too long", permanent: true, overflow: true },
);
const usage = fc.record({ total: fc.constantFrom(100, 600, 1000, 1300) });
const calls = fc.array(
  fc.record({ name: fc.constantFrom("say", "long", "picture", "unknown"), args: fc.constantFrom({}, "{broken") }),
  { minLength: 1, maxLength: 3 },
);
const reply = fc.oneof<fc.Arbitrary<ScriptedReply>[]>(
  fc.record({ text: fc.constantFrom("fine", "well"), usage }),
  fc.record({ thinking: fc.constant("hm"), text: fc.constant("so"), calls, usage }),
  fc.record({ calls, usage }),
  fc.record({ text: fc.constant("half"), calls, outcome }),
  fc.record({ outcome }),
  fc.constant({ thinking: "t", text: "and", hang: true }),
);
const summary = fc.oneof<fc.MaybeWeightedArbitrary<ScriptedReply>[]>(
  { weight: 4, arbitrary: fc.constant({ text: "[summary]the story[/summary]" }) },
  { weight: 2, arbitrary: fc.record({ calls, usage }) },
  { weight: 1, arbitrary: fc.constant({ thinking: "nothing" }) },
  { weight: 2, arbitrary: fc.record({ text: fc.constant("[summary]half"), outcome }) },
  { weight: 1, arbitrary: fc.constant({ text: "[summary]half", hang: true }) },
);
const place = (max: number): fc.Arbitrary<number> => fc.oneof(fc.constant(-1), fc.integer({ min: 0, max }));

export const sessionPlans: fc.Arbitrary<SessionPlan> = fc.record({
  replies: fc.array(reply, { maxLength: 14 }),
  summaries: fc.array(summary, { maxLength: 6 }),
  steps: fc.array(
    fc.record({
      text: fc.constantFrom("one", "two", "three"),
      image: fc.boolean(),
      compact: fc.integer({ min: 0, max: 5 }).map((n) => n === 0),
      abortAt: place(40),
      steerAt: place(30),
      followUpAt: place(30),
    }),
    { minLength: 1, maxLength: 5 },
  ),
  compaction: fc.record(
    {
      maxContextTokens: fc.constantFrom(0, 1000, 100_000),
      maxSessionTurns: fc.constantFrom(0, 2),
      mode: fc.constantFrom("summarize", "summarize", "discard"),
      keepRecentTokens: fc.constantFrom(0, 30, 500),
      keepOutputTokens: fc.constantFrom(-1, 5, 1000),
      model: fc.constant({ provider: "custom", modelId: "other" }),
    },
    { requiredKeys: ["maxContextTokens", "maxSessionTurns", "mode", "keepRecentTokens", "keepOutputTokens"] },
  ),
});

/** A session whose models follow a plan. */
export interface PlannedSession extends AsyncDisposable {
  readonly session: Session;
  perform(step: PlannedStep): Promise<void>;
}

/**
 * Opens a session for a plan, on an agent with `plannedTools`.
 *
 * @param onRequest - Told before each request, other than for a summary, all that the model was ever sent and said.
 */
export async function openPlanned(
  { agent, workspaceDir }: TempAgent,
  { replies, summaries, compaction }: SessionPlan,
  onRequest: (sent: readonly OmniMessage[]) => Promise<void> = async () => undefined,
): Promise<PlannedSession> {
  const [nextReply, nextSummary] = [inTurn(replies, "fine"), inTurn(summaries, "[summary]short[/summary]")];
  let stop = new AbortController();
  const createLLM: CreateLLM = (_config, history) => {
    let known = [...history];
    return {
      async *streamGenerate(parameters) {
        const sent = [...known, ...parameters.newMessages];
        const asksForSummary = JSON.stringify(sent.at(-1)).includes("Write the notes from which the work goes on");
        if (!asksForSummary) await onRequest(sent);
        const turn = asksForSummary ? nextSummary() : nextReply();
        const stream = scriptedLLM(turn).streamGenerate(parameters);
        const said: OmniMessage[] = [];
        for (let part = await stream.next(); ; part = await stream.next()) {
          if (part.done) {
            if (part.value.status === "completed") known = [...sent, ...said];
            return part.value;
          }
          if (isCompleteModelMessage(part.value)) said.push(part.value);
          yield part.value;
          if (turn.hang && isType(part.value, "text")) stop.abort();
        }
      },
    };
  };
  const session = await agent.createSession({ workspaceDir, createLLM, compaction });
  return {
    session,
    async perform(step) {
      stop = new AbortController();
      const { signal } = stop;
      const run: AsyncGenerator<OmniMessage, unknown> = step.compact
        ? session.compact({ signal })
        : session.run(inputOf(step), { approve: async () => "allow", signal });
      let at = 0;
      for await (const _ of run) {
        if (at === step.abortAt) stop.abort();
        if (at === step.steerAt) session.steer([userText("steered"), userImage(PIXEL)]);
        if (at === step.followUpAt) session.followUp([userText("followed")]);
        at += 1;
      }
    },
    [Symbol.asyncDispose]: () => session.dispose(),
  };
}

function inputOf({ text, image }: PlannedStep): OmniMessage[] {
  return [userText(text), ...(image ? [userImage(PIXEL)] : [])];
}

/** The turns one after the other, then always the same; every call has an id of its own. */
function inTurn(turns: readonly ScriptedReply[], last: string): () => ScriptedReply {
  let next = 0;
  return () => {
    const { calls: called, ...turn } = turns[next++] ?? { text: last };
    return {
      ...turn,
      ...(called && { calls: called.map((call, at) => ({ ...call, id: `${last[0]}_${next}_${at}` })) }),
    };
  };
}

export const plannedTools: ReturnType<typeof tool>[] = [
  tool("say", [{ type: "text", text: "said" }]),
  tool("long", [{ type: "text", text: "L".repeat(3000) }]),
  tool("picture", [
    { type: "text", text: "here" },
    { type: "image", data: PIXEL_DATA, mimeType: "image/png" },
  ]),
];

type Content = { type: "text"; text: string } | { type: "image"; data: string; mimeType: string };

function tool(name: string, content: Content[]): ReturnType<typeof defineTool> {
  return defineTool({
    name,
    label: name,
    description: name,
    parameters: { type: "object", properties: {} },
    execute: async () => ({ content, details: { long: "x".repeat(200) } }),
  });
}
