import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { createAgent } from "../src/agent/agent.ts";
import type { ApproveFn } from "../src/approval/contract.ts";
import { userText } from "../src/omnimessage/build.ts";
import { ofType } from "../src/omnimessage/guards.ts";
import { collectRun, scriptedLLM, tempAgent } from "../src/testing/index.ts";

const allow: ApproveFn = async () => "allow";
const LINES = 20_000;
const long = { calls: [{ name: "exec_command", args: { description: "count", cmd: `seq ${LINES}` } }] };

/** The path in an output's archive note, the last thing before the bracket. */
function archivePath(output: string | undefined): string {
  const path = /saved to (\/.*)\]/.exec(output ?? "")?.[1];
  if (path === undefined) throw new Error(`no archive path in ${output?.slice(-300)}`);
  return path;
}

test("a cut output is saved for its session, shown with the same path everywhere, and not repeated in the trace (PT-037, PT-040, PT-065, PT-066)", async () => {
  const llm = scriptedLLM(long, "done");
  await using temp = await tempAgent({ createLLM: () => llm });
  const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir });
  const { messages, trace } = await collectRun(session, [userText("Count")], { approve: allow });
  const shown = ofType(messages, "tool_call_output")[0]?.payload.output;
  const recorded = ofType(trace, "tool_call_output")[0]?.payload.output;
  const sent = llm.requests[1]?.newMessages[0]?.payload;
  const path = archivePath(shown);
  expect(path).toContain(`/scratchpad/${session.sessionId}/truncated-tool-output/`);
  expect([recorded, sent && "output" in sent && sent.output]).toEqual([shown, shown]);
  expect(shown?.length).toBeLessThan(17_000);
  const whole = Array.from({ length: LINES }, (_, i) => `${i + 1}\n`).join("");
  expect(await readFile(path, "utf8")).toBe(whole);
  expect(JSON.stringify(trace).length).toBeLessThan(whole.length);
});

test("the end of an archive can be reached with a shell command, and its lines with read_file (PT-046, PT-047)", async () => {
  const llm = scriptedLLM(
    long,
    async function* (parameters) {
      const output = parameters.newMessages[0]?.payload;
      const path = archivePath(output && "output" in output ? output.output : undefined);
      const calls = [
        { name: "exec_command", args: { description: "end", cmd: `tail -n 1 '${path}'` } },
        { name: "read_file", args: { file_path: path, offset: 15_000, limit: 1 } },
      ];
      return yield* scriptedLLM({ calls: calls.map((call, i) => ({ ...call, id: `later_${i}` })) }).streamGenerate(
        parameters,
      );
    },
    "done",
  );
  await using temp = await tempAgent({ createLLM: () => llm });
  const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir });
  await collectRun(session, [userText("Count")], { approve: allow });
  const [end, line] =
    llm.requests[2]?.newMessages.map(({ payload }) => ("output" in payload ? payload.output : "")) ?? [];
  expect(end).toBe(`${LINES}\n[exit code 0]`);
  expect(line).toMatch(/^ 15000\t15000\n/);
});

test("an archive is readable in later tasks and after everything was disposed of, and goes with the session (PT-061, PT-062)", async () => {
  const llm = scriptedLLM(long, "done", "again");
  await using temp = await tempAgent({ createLLM: () => llm });
  const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir });
  const { messages } = await collectRun(session, [userText("Count")], { approve: allow });
  const path = archivePath(ofType(messages, "tool_call_output")[0]?.payload.output);
  await collectRun(session, [userText("And now?")], { approve: allow });
  await session.dispose();
  await temp.agent.dispose();
  const { stdout } = await promisify(execFile)("wc", ["-l", path]);
  expect(stdout).toMatch(new RegExp(`^\\s*${LINES} `));
  const later = await createAgent({ root: temp.root, env: {} });
  await later.removeSession(session.sessionId);
  await expect(readFile(path)).rejects.toMatchObject({ code: "ENOENT" });
});
