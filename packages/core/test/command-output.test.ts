import { expect, test } from "vitest";
import { ofType } from "../src/omnimessage/guards.ts";
import type { ToolCallOutputPayload } from "../src/omnimessage/message.ts";
import type { ToolRunner } from "../src/session/tool-runner.ts";
import { tempAgent } from "../src/testing/index.ts";

async function call(runner: ToolRunner, name: string, args: object): Promise<ToolCallOutputPayload> {
  const outputs: ToolCallOutputPayload[] = [];
  const text = JSON.stringify({ description: "Tries it.", ...args });
  for await (const message of runner.call(name, text, { approve: async () => "allow" })) {
    for (const { payload } of ofType([message], "tool_call_output")) outputs.push(payload);
  }
  const [output] = outputs;
  if (output === undefined || outputs.length > 1) throw new Error(`${outputs.length} outputs`);
  return output;
}

test("a line longer than the output limit is cut, not dropped", async () => {
  await using temp = await tempAgent();
  const runner = await temp.agent.createToolRunner({ workspaceDir: temp.workspaceDir });
  const { output, stop_reason } = await call(runner, "exec_command", {
    cmd: "head -c 300000 /dev/zero | tr '\\0' y; echo",
  });
  expect(stop_reason).toBe("completed");
  expect(output).toMatch(
    /^y{4000}\n\[\.\.\. 284001 characters omitted \.\.\.\]\ny{11999}\n\[output truncated: 300001 /,
  );
});

test("of long lines and an error at the end the error, the exit code and where the rest is are shown", async () => {
  await using temp = await tempAgent();
  const runner = await temp.agent.createToolRunner({ workspaceDir: temp.workspaceDir });
  const flood = "for i in 1 2 3; do head -c 200000 /dev/zero | tr '\\0' z; echo; done";
  const { output } = await call(runner, "exec_command", { cmd: `${flood}; echo 'error: FINAL-REASON' >&2; exit 1` });
  expect(output).toMatch(
    /z\nerror: FINAL-REASON\n\[output truncated: 600023 characters in all; full text saved to \S+\.log\]\n\[exit code 1\]$/,
  );
});

test("through the whole environment a command goes on, is answered, and cannot be asked for once its end was told", async () => {
  await using temp = await tempAgent();
  const runner = await temp.agent.createToolRunner({ workspaceDir: temp.workspaceDir });
  const cmd = "printf 'Name? '; read n; echo hi $n; until test -e go; do sleep 0.01; done";
  const first = await call(runner, "exec_command", { cmd, yield_time_ms: 1500 });
  const [, process_id = ""] = /^Name\? \n\[still running; process_id: (proc-[0-9a-f]{8});/.exec(first.output) ?? [];
  expect([first.stop_reason, first.details]).toMatchObject(["completed", { command: cmd, process_id }]);
  const second = await call(runner, "input_command", { process_id, chars: "Zoë\n", yield_time_ms: 1000 });
  expect(second.output).toMatch(/^hi Zoë\n\[still running/);
  await call(runner, "write_file", { file_path: "go", content: "" });
  const third = await call(runner, "input_command", { process_id });
  expect(third).toMatchObject({ output: "[exit code 0]", stop_reason: "completed" });
  const fourth = await call(runner, "input_command", { process_id });
  expect(fourth).toMatchObject({
    stop_reason: "failed",
    output: expect.stringContaining("has ended with exit code 0"),
  });
});

test.each([
  ["input_command", {}, "process_id: is required"],
  ["input_command", { process_id: 3 }, "process_id"],
  ["input_command", { process_id: "proc-1", chars: [] }, "chars"],
  ["exec_command", { cmd: "true", yield_time_ms: "soon" }, "yield_time_ms"],
  ["exec_command", { cmd: "true", run_in_background: "maybe" }, "run_in_background"],
])("bad arguments of %s are answered by their names and nothing is run: %j", async (name, args, problem) => {
  await using temp = await tempAgent();
  const runner = await temp.agent.createToolRunner({ workspaceDir: temp.workspaceDir });
  const { output, stop_reason } = await call(runner, name, args);
  expect([stop_reason, output]).toEqual(["failed", expect.stringContaining(problem)]);
});
