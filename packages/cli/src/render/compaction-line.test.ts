import { eventMessage, modelMessage, userText } from "@rookery/core";
import { sessionMetaMessage } from "@rookery/core/omnimessage";
import { expect, test } from "vitest";
import { fakeIo } from "../../test/support/fake-io.ts";
import { OutputStream } from "../output-stream.ts";
import { compactionLine } from "./compaction-line.ts";
import { textView } from "./text-view.ts";
import { transcript } from "./transcript.ts";

const begin = eventMessage({ type: "compaction_begin", reason: "context", mode: "summarize", context: 1000, turns: 3 });
const failed = { reason: "context", mode: "summarize", status: "failed", error_message: "no \x1b[2J" } as const;
const end = eventMessage({ type: "compaction_end", reason: "context", mode: "summarize", status: "completed" });
const summary = modelMessage({ type: "partial_text", role: "assistant", event_type: "delta", text: "so far" });
const meta = { session_id: "s", provider: "p", model_id: "m", system_prompt: "", agent_state: "/a", workspace: "/w" };

test("a compaction is one line, and another one if it fails, without control characters", () => {
  expect(compactionLine(begin)).toBe("↻ summarising the conversation (the context is full, 1000 tokens)");
  expect(compactionLine({ ...begin, payload: { ...begin.payload, model: "p/\x1bm" } })).toContain(
    "conversation by p/␛m (",
  );
  expect(compactionLine(end)).toBeUndefined();
  expect(compactionLine(eventMessage({ type: "compaction_end", ...failed }))).toBe(
    "↻ the context stays as it is: no ␛[2J",
  );
});

test.each([true, false])("a summary is not printed as if it were an answer, at a terminal: %s", async (isTTY) => {
  const io = fakeIo({ isTTY });
  const stdout = new OutputStream(io.stdout);
  const view = textView(io, stdout);
  for (const message of [begin, summary, end]) await view.show(message);
  await stdout.flush();
  expect(io.out() + io.err()).toContain("summarising the conversation");
  expect(io.out() + io.err()).not.toContain("so far");
});

test("a transcript shows the line, leaves out how the summary came about, and shows the summary itself", () => {
  const lines = transcript(80);
  const record = [begin, userText("write notes", "harness"), end];
  expect(record.map(lines)).toEqual([expect.stringContaining("summarising"), undefined, undefined]);
  expect(lines(sessionMetaMessage({ ...meta, model_context_window: "unknown", carried: 2 }))).toContain("p/m");
  expect(lines(userText("[context_summary]\nnotes\n[/context_summary]", "harness"))).toContain("\nnotes\n");
  expect(lines(userText("kept"))).toBeUndefined();
});
