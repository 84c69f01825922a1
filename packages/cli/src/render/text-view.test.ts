import { eventMessage, modelMessage, type OmniMessage } from "@rookery/core";
import { expect, test } from "vitest";
import { outcome } from "../../test/support/fake-agent.ts";
import { fakeIo } from "../../test/support/fake-io.ts";
import { OutputStream } from "../output-stream.ts";
import { textView } from "./text-view.ts";

const tools = eventMessage({
  type: "tool_list_ready",
  tools: [{ name: "probe", description: "", parameters: { properties: { description: { type: "string" } } } }],
});
const call = (id: string, about: string): OmniMessage =>
  modelMessage({
    type: "tool_call",
    role: "assistant",
    name: "probe",
    arguments: JSON.stringify({ description: about }),
    tool_call_id: id,
  });
const output = (id: string, text: string, stop_reason: "completed" | "failed" = "completed"): OmniMessage =>
  modelMessage({ type: "tool_call_output", role: "user", output: text, tool_call_id: id, stop_reason });
const text = (...deltas: string[]): OmniMessage[] =>
  fragments(deltas, (event_type, delta) => ({ type: "partial_text", role: "assistant", event_type, text: delta }));
const thinking = (...deltas: string[]): OmniMessage[] =>
  fragments(deltas, (event_type, delta) => ({
    type: "partial_thinking",
    role: "assistant",
    event_type,
    thinking: delta,
  }));

test("off a terminal standard output is the model's text alone, headings go to standard error", async () => {
  const { out, err } = await shown(false, [
    tools,
    ...thinking("hm"),
    ...text("Loo", "king."),
    call("1", "look"),
    output("1", "found"),
    ...text("Do", "ne.\n"),
  ]);
  expect(out).toBe("Looking.\nDone.\n");
  expect(err).toBe("● probe  look\n");
});

test("off a terminal a call that failed is told with the first line of its result", async () => {
  const failed = [tools, call("1", "one"), call("2", "two"), output("1", "no\nnever", "failed"), output("2", "yes")];
  const { out, err } = await shown(false, failed);
  expect(out).toBe("");
  expect(err).toBe("● probe  one\n● probe  two\n● probe  one\n  failed: no\n");
});

test("no escape byte is written off a terminal, and none of the model's reaches one", async () => {
  const messages = [tools, ...text("\x1b[2J"), call("1", "\x1b]0;t\x07"), output("1", "\x1b[31mred")];
  const piped = await shown(false, messages);
  expect(piped.out + piped.err).not.toContain("\x1b");
  const terminal = await shown(true, messages);
  expect(terminal.out.replaceAll(/\x1b\[(2|22)m/g, "")).toBe("␛[2J\n● probe  ␛]0;t␇\n  ␛[31mred\n");
});

test("at a terminal everything stands where it happens", async () => {
  const { out, err } = await shown(true, [
    tools,
    ...thinking("hm", "m"),
    ...text("Looking."),
    call("1", "look"),
    output("1", "a\nb\nc\nd\ne\nf\ng", "failed"),
  ]);
  expect(out).toBe(
    `${dim("hm")}${dim("m")}\nLooking.\n● probe  look\n  failed\n${["… 2 earlier lines", "c", "d", "e", "f", "g"]
      .map((line) => `${dim(`  ${line}`)}\n`)
      .join("")}`,
  );
  expect(err).toBe("");
});

test("NO_COLOR leaves the dimming out", async () => {
  expect((await shown(true, thinking("hm"), { NO_COLOR: "1" })).out).toBe("hm\n");
});

test("a result that does not follow its own heading gets it again", async () => {
  const { out } = await shown(true, [tools, call("1", "one"), call("2", "two"), output("1", "x"), output("2", "y")], {
    NO_COLOR: "1",
  });
  expect(out).toBe("● probe  one\n● probe  two\n● probe  one\n  x\n● probe  two\n  y\n");
});

const begin = eventMessage({ type: "request_begin" });
const ended = (status: "completed" | "timeout"): OmniMessage =>
  eventMessage({ type: "request_end", status, ...(status === "timeout" && { retry_in_ms: 100 }) });

test("off a terminal the text of an attempt that is repeated is dropped", async () => {
  const half = text("The answer is").slice(0, 2);
  const messages = [begin, ...half, ended("timeout"), begin, ...text("The answer is 4."), ended("completed")];
  expect((await shown(false, messages)).out).toBe("The answer is 4.\n");
});

test("off a terminal the text of a request comes out when it has completed, and not before", async () => {
  const io = fakeIo();
  const stdout = new OutputStream(io.stdout);
  const view = textView(io, stdout);
  for (const message of [begin, ...text("whole")]) view.show(message);
  await stdout.flush();
  expect(io.out()).toBe("");
  view.show(ended("completed"));
  await stdout.flush();
  expect(io.out()).toBe("whole\n");
});

test("of a run that ends otherwise the text of the last attempt is written after all", async () => {
  const attempt = (said: string): OmniMessage[] => [begin, ...text(said).slice(0, 2), ended("timeout")];
  expect((await shown(false, [...attempt("first"), ...attempt("last")])).out).toBe("last\n");
});

test("at a terminal every attempt is shown, with its break marked", async () => {
  const messages = [begin, ...text("half"), ended("timeout"), begin, ...text("whole"), ended("completed")];
  expect((await shown(true, messages)).out).toBe(
    "half\n↻ retrying in 1 s (attempt 2 of 6): timeout — press Enter to try now, Ctrl-C to give up\nwhole\n",
  );
});

test("an attempt that is repeated is one line with its wait", async () => {
  const retry = eventMessage({
    type: "request_end",
    status: "timeout",
    error_message: `HTTP 503:\nbusy \x1b[2J ${"very ".repeat(100)}`,
    attempt: 2,
    retry_in_ms: 2100,
  });
  const { err } = await shown(false, [retry]);
  expect(err).toMatch(/^↻ retrying in 3 s \(attempt 3 of 6\): HTTP 503: busy ␛\[2J (very ){50,}v?e?r?y?…\n$/);
  expect((await shown(false, [{ ...retry, origin: ["session-2"] }])).err).toBe("");
});

test("messages of child sessions stay out of the answer", async () => {
  const child = text("inner").map((message) => ({ ...message, origin: ["session-2"] }));
  expect((await shown(false, child)).out).toBe("");
});

test("a run that does not complete is named at the end, behind an ended line", async () => {
  const io = fakeIo();
  const stdout = new OutputStream(io.stdout);
  const view = textView(io, stdout);
  for (const message of text("half").slice(0, 2)) view.show(message);
  view.end(outcome({ status: "failed", code: "max-turns", message: "3 requests were made" }), "allow more");
  await stdout.flush();
  expect(io.out()).toBe("half\n");
  expect(io.err()).toBe("rookery: failed (max-turns): 3 requests were made; allow more\n");
});

test("a reply of nothing is told, one that ends in a call is not", async () => {
  const said = async (...messages: OmniMessage[]): Promise<string> => {
    const io = fakeIo();
    const view = textView(io, new OutputStream(io.stdout));
    for (const message of messages) await view.show(message);
    view.end(outcome({ text: " " }));
    return io.err();
  };
  const call = modelMessage({ type: "tool_call", role: "assistant", name: "t", arguments: "{}", tool_call_id: "c" });
  expect(await said()).toBe("rookery: the model answered with nothing\n");
  expect(await said(call)).not.toContain("nothing");
  expect(await said(call, eventMessage({ type: "request_begin" }))).toContain("nothing");
});

/** A terminal of 60 columns. */
const ERASED = `\r${" ".repeat(59)}\r`;
const progress = (id: string, text: string): OmniMessage =>
  eventMessage({ type: "tool_progress", tool_call_id: id, text });

test("at a terminal the last line of what a tool prints is shown while it runs, and gives way to the result (PT-085)", async () => {
  const messages = [
    tools,
    call("1", "build"),
    progress("1", "one\nstep 1"),
    progress("1", "step 2"),
    output("1", "ok"),
  ];
  const { out } = await shown(true, messages, { NO_COLOR: "1" });
  expect(out).toBe(`● probe  build\n  step 1${ERASED}  step 2${ERASED}  ok\n`);
  expect((await shown(true, messages, { TERM: "dumb" })).out).toBe("● probe  build\n  ok\n");
  expect(await shown(false, messages)).toEqual({ out: "", err: "● probe  build\n" });
});

test("at a terminal the heading of a call grows with its description while the arguments arrive (PT-085, PT-087)", async () => {
  const head = { type: "partial_tool_call", role: "assistant", tool_call_id: "1" } as const;
  const piece = (event_type: "start" | "delta" | "stop", text: string): OmniMessage =>
    modelMessage({ ...head, event_type, name: event_type === "start" ? "probe" : "", arguments: text });
  const arriving = [
    piece("start", ""),
    piece("delta", '{"description":"bu'),
    piece("delta", 'ild"}'),
    piece("stop", ""),
  ];
  const messages = [tools, ...arriving, call("1", "build")];
  const frames = ["● probe", "● probe  bu", "● probe  build", "● probe  build\n"];
  expect((await shown(true, messages, { NO_COLOR: "1" })).out).toBe(frames.join(ERASED));
  expect((await shown(true, messages, { TERM: "dumb" })).out).toBe("● probe  build\n");
  expect(await shown(false, messages)).toEqual({ out: "", err: "● probe  build\n" });
});

test("progress is not written over text of the model, and does not stay behind at the end", async () => {
  const open = text("Hm");
  const messages = [tools, call("1", "build"), ...open.slice(0, -1), progress("1", "step 1"), ...open.slice(-1)];
  const env = { NO_COLOR: "1" };
  expect((await shown(true, messages, env)).out).not.toContain("step 1");
  expect((await shown(true, [tools, progress("1", "step 1")], env)).out).toBe(`  step 1${ERASED}`);
});

async function shown(
  isTTY: boolean,
  messages: readonly OmniMessage[],
  env: NodeJS.ProcessEnv = {},
): Promise<{ out: string; err: string }> {
  const io = fakeIo({ isTTY, env });
  const stdout = new OutputStream(io.stdout);
  const view = textView(io, stdout);
  for (const message of messages) await view.show(message);
  view.end(outcome({ text: "answered" }));
  await stdout.flush();
  return { out: io.out(), err: io.err() };
}

function fragments(
  deltas: readonly string[],
  build: (event: "start" | "delta" | "stop", delta: string) => Parameters<typeof modelMessage>[0],
): OmniMessage[] {
  return [build("start", ""), ...deltas.map((delta) => build("delta", delta)), build("stop", "")].map((payload) =>
    modelMessage(payload),
  );
}

function dim(text: string): string {
  return `\x1b[2m${text}\x1b[22m`;
}
