import { expect } from "vitest";
import { isType, ofType } from "../../src/omnimessage/guards.ts";
import type {
  OmniMessage,
  PartialToolCallOutputPayload,
  ToolCallOutputPayload,
} from "../../src/omnimessage/message.ts";

/** One executed call: its complete output, its text deltas, and everything that was seen. */
export interface CollectedOutput {
  readonly complete: ToolCallOutputPayload;
  readonly deltas: readonly string[];
  readonly messages: readonly OmniMessage[];
}

/** Runs a call to its end and checks that its output is legal: start, deltas, stop, complete; one id; nothing after it. */
export async function collectOutput(stream: AsyncIterable<OmniMessage>): Promise<CollectedOutput> {
  const messages: OmniMessage[] = [];
  for await (const message of stream) messages.push(message);
  const own = messages.filter((message) => message.origin === undefined);
  const partials = ofType(own, "partial_tool_call_output").map(({ payload }) => payload);
  const complete = own.at(-1);
  if (complete === undefined || !isType(complete, "tool_call_output")) throw new Error("the last message is no output");
  checkLegal(partials, complete.payload);
  expect(ofType(own, "tool_call_output")).toHaveLength(1);
  expect(own[0]?.payload).toMatchObject({ type: "partial_tool_call_output", event_type: "start" });
  expect(own.at(-2)?.payload).toMatchObject({ type: "partial_tool_call_output", event_type: "stop" });
  const deltas = partials.filter(({ output }) => output !== "").map(({ output }) => output);
  return { complete: complete.payload, deltas, messages };
}

function checkLegal(partials: readonly PartialToolCallOutputPayload[], complete: ToolCallOutputPayload): void {
  const [start, ...rest] = partials;
  const stop = rest.pop();
  expect(start).toMatchObject({ event_type: "start", output: "" });
  expect(stop).toMatchObject({ event_type: "stop", output: "", stop_reason: complete.stop_reason });
  for (const { event_type, output, images } of rest) {
    expect(event_type).toBe("delta");
    expect(output !== "" || images !== undefined).toBe(true);
  }
  expect(partials.map(({ output }) => output).join("")).toBe(complete.output);
  expect(partials.flatMap(({ images }) => images ?? [])).toEqual(complete.images ?? []);
  expect(new Set(partials.map(({ tool_call_id }) => tool_call_id))).toEqual(new Set([complete.tool_call_id]));
  expect(complete.output).not.toBe("");
}
