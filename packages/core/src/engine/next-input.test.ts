import { expect, test } from "vitest";
import { eventMessage, modelMessage, userData, userText } from "../omnimessage/build.ts";
import type { OmniMessage } from "../omnimessage/message.ts";
import { KILLED_OUTPUT, nextInput } from "./next-input.ts";

const begin = eventMessage({ type: "request_begin" });
const end = (status: "completed" | "failed" | "aborted"): OmniMessage => eventMessage({ type: "request_end", status });
const abort = eventMessage({ type: "abort" });
const say = (text: string): OmniMessage => modelMessage({ type: "text", role: "assistant", text });
const call = (id: string): OmniMessage =>
  modelMessage({ type: "tool_call", role: "assistant", name: "look", arguments: `{"id":"${id}"}`, tool_call_id: id });
const output = (id: string, images?: string[]): OmniMessage =>
  modelMessage({
    type: "tool_call_output",
    role: "user",
    output: `saw ${id}`,
    tool_call_id: id,
    ...(images && { images }),
  });

function shown(messages: readonly OmniMessage[]): unknown[] {
  return messages.map(({ payload }) => {
    if (payload.type === "text") return payload.text;
    return payload.type === "tool_call_output" ? payload.output : payload.type;
  });
}

test("a committed reply is answered in the order of its calls, whatever the order of its outputs", () => {
  const records = [begin, call("a"), call("b"), output("b"), end("completed"), output("a"), userText("next")];
  expect(shown(nextInput(records))).toEqual(["saw a", "saw b", "next"]);
});

test("a committed call without an output was overtaken by the end of the process", () => {
  expect(shown(nextInput([begin, call("a"), end("completed")]))).toEqual([KILLED_OUTPUT]);
});

test("a failed attempt leaves no text in the next one's input, and a note on calls that ran, with their images", () => {
  const records = [
    userText("go"),
    begin,
    say("half"),
    call("a"),
    call("b"),
    end("failed"),
    output("a", ["data:image/png;base64,AA=="]),
  ];
  const [input, note, image] = nextInput(records);
  expect(input?.payload).toMatchObject({ text: "go" });
  expect(note?.payload).toMatchObject({ text: expect.stringContaining("saw a") });
  expect(note?.payload).toMatchObject({ text: expect.not.stringContaining("half") });
  expect(note?.payload).toMatchObject({ text: expect.not.stringContaining('"b"') });
  expect(image?.payload).toMatchObject({ type: "image_url", image_url: "data:image/png;base64,AA==" });
});

test("an interrupted run repeats what its last attempt said, and of earlier attempts only calls that ran", () => {
  const records = [
    userText("go"),
    begin,
    say("first try"),
    call("a"),
    call("b"),
    end("failed"),
    output("a"),
    begin,
    say("second try"),
    call("c"),
    end("aborted"),
    abort,
    userText("and now?"),
  ];
  const [block, now, ...rest] = shown(nextInput(records));
  expect(rest).toEqual([]);
  expect(now).toBe("and now?");
  expect(block).toBe(
    [
      "[turn_aborted]",
      "The turn below was interrupted before its reply was complete.",
      "[user_input]\ngo\n[/user_input]",
      '[tool_call]\nlook {"id":"a"}\n[/tool_call]',
      "[tool_call_output]\nsaw a\n[/tool_call_output]",
      "[text]\nsecond try\n[/text]",
      '[tool_call]\nlook {"id":"c"}\n[/tool_call]',
      "(not run)",
      "[/turn_aborted]",
    ].join("\n"),
  );
});

test("input that was never answered stays as it was given", () => {
  const records = [userText("one"), begin, end("aborted"), abort, userText("two")];
  expect(shown(nextInput(records))).toEqual(["one", "two"]);
});

test("of a long input that did not fit the context, its beginning and its end are said again", () => {
  const long = `begin ${"x".repeat(50_000)} end`;
  const overflow = eventMessage({ type: "abort", code: "context-overflow" });
  const [text = "", next] = shown(
    nextInput([userText(long), begin, end("failed"), overflow, userText("hi")]),
  ) as string[];
  expect(text).toMatch(
    /^begin x+\n\[\.\.\. 34010 characters left out: with it the request did not fit \.\.\.\]\nx+ end$/,
  );
  expect(text.length).toBeLessThan(16_100);
  expect(next).toBe("hi");
  expect(shown(nextInput([userText(long), begin, end("failed"), abort, userText("hi")]))).toEqual([long, "hi"]);
});

test("what was said again in a run that did not fit the context is shortened too, and data is left out", () => {
  const [long, data] = [userText("x".repeat(50_000)), userData("A".repeat(50_000), "application/pdf")];
  const overflow = eventMessage({ type: "abort", code: "context-overflow" });
  const records = [long, data, begin, end("aborted"), abort, userText("hi"), begin, end("failed"), overflow];
  const [smileys] = shown(
    nextInput([userText(`x${"😀".repeat(20_000)}y`), begin, end("failed"), overflow]),
  ) as string[];
  expect(smileys).toMatch(/^x(😀){3999}\n\[.*24004 characters.*\]\n(😀){3999}y$/u);
  expect(shown(nextInput([...records, userText("again")]))).toEqual([
    expect.stringMatching(/^x{8000}\n\[.*34000 characters.*\]\nx{8000}$/),
    "[application/pdf data left out: with it the request did not fit]",
    "hi",
    "again",
  ]);
});
