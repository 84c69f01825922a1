import { type ApprovalContext, modelMessage } from "@rookery/core";
import { expect, test } from "vitest";
import { type FakeIo, fakeIo, written } from "../test/support/fake-io.ts";
import { OutputStream } from "./output-stream.ts";
import { approvalPrompt } from "./prompt-approval.ts";

const call = modelMessage({
  type: "tool_call",
  role: "assistant",
  name: "touch",
  arguments: "{}",
  tool_call_id: "call_1",
});
const OPEN = { settled: new AbortController().signal };
const QUESTION = "Type y to allow or n to deny: ";
const context: ApprovalContext = {
  summary: "touch a.txt\nand \x1b[2J more",
  risk: "filesystem",
  permission: "rw",
  workspace: "/work space",
};

test("the question shows what is to be done, its risk and where, with control characters visible", async () => {
  const { io, answer } = await asked();
  io.stdin.write("y\n");
  await answer;
  expect(io.err()).toBe(
    "\nAllow touch?\n  risk: filesystem   workspace: /work space\n  │ touch a.txt\n  │ and ␛[2J more\n" +
      "Type y to allow or n to deny: ",
  );
});

test.each([
  ["y", "allow"],
  [" YES ", "allow"],
  ["n", "deny"],
  ["no", "deny"],
])("%j answers %s", async (line, decision) => {
  const { io, answer } = await asked();
  io.stdin.write(`${line}\n`);
  expect(await answer).toEqual({ decision, decidedBy: "user" });
});

test("a bare Enter and anything else ask again", async () => {
  const { io, answer } = await asked();
  io.stdin.write("\nsure\nyy\nn\n");
  expect(await answer).toMatchObject({ decision: "deny" });
  expect(io.err().split("Type y to allow").length - 1).toBe(4);
});

const nobody = { decision: "deny", decidedBy: "default", reason: "nobody can answer" };

const lasting = [{ allow: { command: "git log" }, workspace: "/work space" }];

test.each(["a", "always"])("%j allows for good, and the question shows what that stores", async (line) => {
  const io = fakeIo({ isTTY: true });
  const prompt = approvalPrompt(io, new OutputStream(io.stdout), new AbortController().signal);
  const answer = prompt?.ask(call, context, { ...OPEN, lasting });
  await written(io.err, "Type y to allow, a to always allow, or n to deny: ");
  expect(io.err()).toContain(
    "  a, for this workspace from now on, whatever words follow:\n  │ allow command 'git log'\nType y",
  );
  io.stdin.write(`${line}\n`);
  expect(await answer).toBe("always");
});

test("where no rule can say what is allowed, a asks again", async () => {
  const { io, answer } = await asked();
  io.stdin.write("a\nn\n");
  expect(await answer).toMatchObject({ decision: "deny" });
});

test("a question that another answer settles is no longer waited for", async () => {
  const io = fakeIo({ isTTY: true });
  const settled = new AbortController();
  const prompt = approvalPrompt(io, new OutputStream(io.stdout), new AbortController().signal);
  const answer = prompt?.ask(call, context, { settled: settled.signal });
  await written(io.err, QUESTION);
  settled.abort();
  await answer;
  await prompt?.answered;
});

test("at the end of the input nobody can answer this call and those after it, and no more is asked", async () => {
  const io = fakeIo({ isTTY: true });
  const prompt = approvalPrompt(io, new OutputStream(io.stdout), new AbortController().signal);
  const answer = prompt?.ask(call, context, OPEN);
  await written(io.err, QUESTION);
  io.stdin.end();
  expect(await answer).toEqual(nobody);
  const shown = io.err();
  expect(shown.endsWith(`${QUESTION}\n`)).toBe(true);
  expect(await prompt?.ask(call, context, OPEN)).toEqual(nobody);
  expect(io.err()).toBe(shown);
});

test("an input that ended before the first question leaves nobody to answer it", async () => {
  const io = fakeIo({ isTTY: true, stdin: "y\n" });
  const prompt = approvalPrompt(io, new OutputStream(io.stdout), new AbortController().signal);
  expect(await prompt?.ask(call, context, OPEN)).toEqual(nobody);
  expect(io.err()).toBe("");
});

test("a y without Enter before the end of the input does not allow", async () => {
  const { io, answer } = await asked();
  io.stdin.end("y");
  expect(await answer).toEqual(nobody);
});

test("a y with Enter before the end of the input does", async () => {
  const { io, answer } = await asked();
  io.stdin.end("y\n");
  expect(await answer).toEqual({ decision: "allow", decidedBy: "user" });
});

test("what was typed before the question is no answer to it", async () => {
  const io = fakeIo({ isTTY: true });
  io.stdin.write("y\n");
  const answer = approvalPrompt(io, new OutputStream(io.stdout), new AbortController().signal)?.ask(
    call,
    context,
    OPEN,
  );
  await written(io.err, QUESTION);
  io.stdin.write("n\n");
  expect(await answer).toMatchObject({ decision: "deny" });
});

test("an interruption denies, before the question and while it stands", async () => {
  const controller = new AbortController();
  const { answer } = await asked(controller.signal);
  controller.abort();
  expect(await answer).toMatchObject({ decision: "deny" });
  const io = fakeIo({ isTTY: true });
  const prompt = approvalPrompt(io, new OutputStream(io.stdout), controller.signal);
  expect(await prompt?.ask(call, context, OPEN)).toMatchObject({ decision: "deny" });
});

test("a second question can be asked, and answered is pending while one stands", async () => {
  const io = fakeIo({ isTTY: true });
  const prompt = approvalPrompt(io, new OutputStream(io.stdout), new AbortController().signal);
  for (const line of ["n", "y"]) {
    const shown = io.err().length;
    const answer = prompt?.ask(call, context, OPEN);
    let isAnswered = false;
    void prompt?.answered.then(() => {
      isAnswered = true;
    });
    await written(() => io.err().slice(shown), QUESTION);
    expect(isAnswered).toBe(false);
    io.stdin.write(`${line}\n`);
    expect(await answer).toMatchObject({ decision: line === "y" ? "allow" : "deny" });
    await prompt?.answered;
  }
});

test("where nobody sits at a terminal there is nobody to ask", () => {
  const io = fakeIo();
  expect(approvalPrompt(io, new OutputStream(io.stdout), new AbortController().signal)).toBeUndefined();
});

test("what was shown stands before the question", async () => {
  const io = fakeIo({ isTTY: true });
  const stdout = new OutputStream(io.stdout);
  stdout.write("● touch\n");
  void approvalPrompt(io, stdout, new AbortController().signal)?.ask(call, context, OPEN);
  await written(io.err, "Allow");
  expect(io.out()).toBe("● touch\n");
});

/** A question that stands on the screen. */
async function asked(
  signal: AbortSignal = new AbortController().signal,
): Promise<{ io: FakeIo; answer: Promise<unknown> }> {
  const io = fakeIo({ isTTY: true });
  const prompt = approvalPrompt(io, new OutputStream(io.stdout), signal);
  if (prompt === undefined) throw new Error("there is no prompt");
  const answer = prompt.ask(call, context, OPEN);
  await written(io.err, QUESTION);
  return { io, answer };
}
