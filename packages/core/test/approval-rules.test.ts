import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Hooks } from "../src/engine/hooks.ts";
import { userText } from "../src/omnimessage/build.ts";
import { ofType } from "../src/omnimessage/guards.ts";
import { type CollectedRun, collectRun, scriptedLLM, type TempAgent, tempAgent } from "../src/testing/index.ts";

interface Call {
  readonly name: string;
  readonly args: Record<string, unknown>;
}

const exec = (cmd: string, workdir?: string): Call => ({
  name: "exec_command",
  args: { description: "d", cmd, ...(workdir !== undefined && { workdir }) },
});

/** One run over one reply with these calls, every call that reaches the callback being allowed. */
async function runCalls(
  calls: readonly Call[],
  { config, hooks, prepare }: { config?: string; hooks?: Hooks; prepare?: (temp: TempAgent) => Promise<void> } = {},
): Promise<CollectedRun & { asked: string[] }> {
  await using temp = await tempAgent({
    createLLM: () => scriptedLLM({ calls: [...calls] }, "done"),
    ...(hooks && { hooks }),
  });
  if (config !== undefined) await writeConfig(temp, config);
  await prepare?.(temp);
  const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir });
  const asked: string[] = [];
  const run = await collectRun(session, [userText("Go")], {
    approve: async (_call, { summary }) => {
      asked.push(summary);
      return "allow";
    },
  });
  return { ...run, asked };
}

async function writeConfig({ root }: TempAgent, text: string): Promise<void> {
  await mkdir(join(root, "default_project"), { recursive: true });
  await writeFile(join(root, "default_project", "project_config.yaml"), text);
}

const decisions = (run: CollectedRun): unknown[] =>
  ofType(run.trace, "approval_decision").map(({ payload: { type, tool_call_id, ...rest } }) => rest);
const outputs = (run: CollectedRun): unknown[] =>
  ofType(run.messages, "tool_call_output").map(({ payload }) => [payload.output, payload.stop_reason]);

test("a command against the factory's policy is forbidden before anyone is asked (PT-170, PT-183)", async () => {
  const run = await runCalls([exec("mkdir kept && rm -r -f kept"), exec("echo fine")]);
  const reason = "rm-recursive-force (rm that deletes directories without asking)";
  expect(decisions(run)).toEqual([
    { decision: "forbidden", decided_by: "policy", reason },
    { decision: "allow", decided_by: "user" },
  ]);
  expect(outputs(run)).toEqual([
    [`Tool call forbidden by policy.\nRule: ${reason}`, "aborted"],
    [expect.stringContaining("fine"), "completed"],
  ]);
  expect(run.asked).toEqual([expect.stringContaining("echo fine")]);
  expect(run.outcome).toMatchObject({ status: "completed", denied: [{ tool: "exec_command", reason }] });
});

test("a project's own policy stands in place of the factory's", async () => {
  const config = "command_policy: { rules: [{ name: no-echo, pattern: 'echo' }] }\n";
  const run = await runCalls([exec("rm -rf none"), exec("echo a")], { config });
  expect(decisions(run)).toEqual([
    { decision: "allow", decided_by: "user" },
    { decision: "forbidden", decided_by: "policy", reason: "no-echo" },
  ]);
});

test("a deny rule holds for every host, whatever its callback says", async () => {
  const config = "rules: [{ deny: { command: touch } }, { deny: { tool: write_file } }]\n";
  const run = await runCalls(
    [exec("env A=1 touch x"), { name: "write_file", args: { description: "d", file_path: "a", content: "x" } }],
    { config },
  );
  expect(outputs(run)).toEqual([
    ["Tool call forbidden by policy.\nRule: deny command touch", "aborted"],
    ["Tool call forbidden by policy.\nRule: deny tool write_file", "aborted"],
  ]);
  expect(run.asked).toEqual([]);
});

test("arguments that a hook put in place are judged anew", async () => {
  const hooks: Hooks = { beforeToolCall: async () => ({ args: { description: "d", cmd: "rm -rf x" } }) };
  const run = await runCalls([exec("ls")], { hooks });
  expect(decisions(run)).toMatchObject([
    { decision: "forbidden", decided_by: "policy", arguments: '{"description":"d","cmd":"rm -rf x"}' },
  ]);
});

test("a hook's veto goes before the policy's", async () => {
  const hooks: Hooks = { beforeToolCall: async () => ({ block: true, reason: "no" }) };
  const run = await runCalls([exec("rm -rf x")], { hooks });
  expect(decisions(run)).toEqual([{ decision: "deny", decided_by: "hook", reason: "no" }]);
});

test("a link inside the workspace that leads out is outside, for reading and for writing", async () => {
  let place = "";
  const config = "rules: [{ deny: { path: outside-workspace } }]\n";
  const file = (name: string, args: Record<string, string>): Call => ({ name, args: { description: "d", ...args } });
  const run = await runCalls(
    [
      file("write_file", { file_path: "box/new.txt", content: "x" }),
      file("read_file", { file_path: "key.txt" }),
      file("edit_file", { file_path: "box/key", old_string: "s3cret", new_string: "x" }),
      file("write_file", { file_path: "../workspace-evil/n.txt", content: "x" }),
      exec("cat key", "box"),
      file("write_file", { file_path: "inside.txt", content: "x" }),
    ],
    {
      config,
      prepare: async ({ workspaceDir }) => {
        place = join(workspaceDir, "..");
        await mkdir(join(place, "out"));
        await mkdir(join(place, "workspace-evil"));
        await writeFile(join(place, "out", "key"), "s3cret\n");
        await writeFile(join(place, "workspace-evil", "n.txt"), "n\n");
        await symlink("../out", join(workspaceDir, "box"));
        await symlink("../out/key", join(workspaceDir, "key.txt"));
      },
    },
  );
  expect(decisions(run)).toEqual([
    ...Array.from({ length: 5 }, () => ({
      decision: "forbidden",
      decided_by: "rule",
      reason: "deny path outside-workspace",
    })),
    { decision: "allow", decided_by: "user" },
  ]);
  expect(JSON.stringify(outputs(run))).not.toContain("s3cret");
});

test("rules that say nothing are an error before anything is run, which names file, line and rule", async () => {
  await expect(runCalls([], { config: "rules:\n  - deny: { command: 'rm *' }\n" })).rejects.toMatchObject({
    code: "config-invalid",
    message: expect.stringMatching(/project_config\.yaml:2: rules\[0\] needs plain words as its command, got "rm \*"/),
  });
  await expect(
    runCalls([], { config: "command_policy:\n  rules: [{ name: a, pattern: '(' }]\n" }),
  ).rejects.toMatchObject({
    message: expect.stringMatching(/yaml:2: command_policy\.rules\[0\]\.pattern is no regular expression: /),
  });
  await expect(runCalls([], { config: "rules: [{ allow: { comand: ls } }]\n" })).rejects.toMatchObject({
    hint: "did you mean command?",
  });
});

test("rules are stored once, keep the file's comments, and are read back", async () => {
  await using temp = await tempAgent();
  await writeConfig(temp, "# mine\nrules: # all\n  - deny: { tool: a }\n");
  const added = [{ allow: { command: "ls" }, workspace: "/w" }];
  await temp.agent.addRules([...added, ...added]);
  await temp.agent.addRules(added);
  expect(await temp.agent.rules()).toEqual([{ deny: { tool: "a" } }, ...added]);
  const text = await readFile(join(temp.root, "default_project", "project_config.yaml"), "utf8");
  expect(text).toMatch(/^# mine\nrules:\s+# all\n {2}- deny: \{ tool: a \}\n/);
  await expect(temp.agent.addRules([{ allow: {} }])).rejects.toMatchObject({ code: "usage" });
});
