import { expect, test } from "vitest";
import type { ApproveFn } from "../src/approval/contract.ts";
import { userText } from "../src/omnimessage/build.ts";
import { ofType } from "../src/omnimessage/guards.ts";
import { collectRun, scriptedLLM, tempAgent } from "../src/testing/index.ts";
import { echoTool } from "./support/test-tools.ts";

const allow: ApproveFn = async () => "allow";
const CUT = "The reply reached the output limit inside this call. Nothing was run.";

test.each([["{"], ["null"], ['["ls"]'], ["7"], ['"text"']])(
  "arguments %s are answered with what is wrong, and the other call of the reply runs (PT-028)",
  async (args) => {
    const llm = scriptedLLM(
      {
        calls: [
          { name: "echo", args },
          { name: "echo", args: { text: "b" } },
        ],
      },
      "done",
    );
    await using temp = await tempAgent({ createLLM: () => llm, tools: [echoTool()] });
    const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir });
    const { outcome, messages } = await collectRun(session, [userText("Go")], { approve: allow });
    const [bad, good] = ofType(messages, "tool_call_output").sort((a, b) =>
      a.payload.tool_call_id.localeCompare(b.payload.tool_call_id),
    );
    expect(bad?.payload).toMatchObject({ stop_reason: "failed" });
    expect(bad?.payload.output).toMatch(/JSON/);
    expect(good?.payload).toMatchObject({ output: "echo: b", stop_reason: "completed" });
    expect(outcome.status).toBe("completed");
  },
);

test("a call that the length limit cut is recorded as it came, not run, and answered with the reason; earlier calls run", async () => {
  const llm = scriptedLLM(
    {
      calls: [
        { name: "echo", args: { text: "a" } },
        { name: "echo", args: '{"text":"b"}', stopReason: "malformed" },
      ],
      finishReason: "length",
    },
    "done",
  );
  await using temp = await tempAgent({ createLLM: () => llm, tools: [echoTool()] });
  const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir });
  const { trace } = await collectRun(session, [userText("Go")], { approve: allow });
  expect(ofType(trace, "tool_call")[1]?.payload).toMatchObject({ arguments: '{"text":"b"}', stop_reason: "malformed" });
  expect(llm.requests[1]?.newMessages.map(({ payload }) => payload)).toMatchObject([
    { output: "echo: a" },
    { output: CUT, stop_reason: "failed" },
  ]);
});

test("two replies in a row that are cut inside a call end the task", async () => {
  const cut = {
    calls: [{ name: "echo", args: '{"te', stopReason: "malformed" as const }],
    finishReason: "length" as const,
  };
  const llm = scriptedLLM(cut, cut, "never asked");
  await using temp = await tempAgent({ createLLM: () => llm, tools: [echoTool()] });
  const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir });
  const { outcome } = await collectRun(session, [userText("Go")], { approve: allow });
  expect(outcome).toMatchObject({ status: "failed", code: "output-length", turns: 2 });
});

test("names that objects inherit are unknown tools, and odd arguments are errors that name the argument", async () => {
  const calls = [
    ...["constructor", "__proto__", "toString", "", "Read_File"].map((name) => ({ name, args: {} })),
    { name: "read_file", args: {} },
    { name: "read_file", args: { file_path: 5 } },
    { name: "read_file", args: { file_path: ["a"] } },
    { name: "read_file", args: { file_path: "a\0b" } },
    { name: "exec_command", args: { cmd: "" } },
    { name: "edit_file", args: { file_path: "a", old_string: "x", new_string: null } },
    { name: "echo", args: '{"text":"a","__proto__":{"limit":1}}' },
  ];
  const llm = scriptedLLM({ calls }, "done");
  await using temp = await tempAgent({ createLLM: () => llm, tools: [echoTool()] });
  const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir });
  const { outcome } = await collectRun(session, [userText("Go")], { approve: allow });
  expect(outcome.status).toBe("completed");
  const results = llm.requests[1]?.newMessages.map(({ payload }) => payload as { output: string; stop_reason: string });
  expect(results).toHaveLength(calls.length);
  expect(results?.map((result) => result.stop_reason)).toEqual([
    ...Array.from({ length: calls.length - 1 }, () => "failed"),
    "completed",
  ]);
  for (const result of results?.slice(0, 5) ?? []) expect(result.output).toMatch(/^no tool named/);
  for (const result of results?.slice(5, 9) ?? []) expect(result.output).toMatch(/file_path|the path/);
  expect(results?.at(-1)?.output).toBe("echo: a");
});
