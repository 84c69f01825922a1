import { appendFile, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { userText } from "../omnimessage/build.ts";
import { toJsonLine } from "../omnimessage/json-lines.ts";
import { checkReplay } from "./check-replay.ts";
import { collectRun } from "./collect-run.ts";
import { scriptedLLM } from "./scripted-llm.ts";
import { tempAgent } from "./temp-agent.ts";

let directory: string;
let trace: string;
let workspace: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "rookery-check-"));
  trace = join(directory, "session.jsonl");
  workspace = await mkdtemp(join(directory, "workspace-"));
  await writeFile(join(workspace, "a.txt"), "one\n");
  await record();
});
afterEach(() => rm(directory, { recursive: true }));

test("a trace file is checked by path, by URL and as records, on a copy of the workspace", async () => {
  const report = await checkReplay(trace, { workspace });
  expect(report.calls.map(({ name }) => name)).toEqual(["exec_command"]);
  await checkReplay(pathToFileURL(trace), { workspace: pathToFileURL(workspace) });
  expect(await readdir(workspace)).toEqual(["a.txt"]);
});

test("what differs is an error that names the session, the call and the lines", async () => {
  const changed = checkReplay(trace, { workspace, prepare: (place) => writeFile(join(place, "a.txt"), "two\n") });
  await expect(changed).rejects.toThrow(
    /^the replay of session-\S+ differs from its record:\nexec_command \{"description":"d","cmd":"cat a\.txt; touch b"\}\n {2}@@ .*\n {2}-one\n {2}\+two\n/,
  );
  await checkReplay(trace, { prepare: (place) => writeFile(join(place, "a.txt"), "two\n"), ignore: [/^(one|two)$/m] });
});

test("a hook of the agent under test that changes an output is found out", async () => {
  const hooks = { afterToolCall: async () => ({ output: "other" }) };
  await expect(checkReplay(trace, { workspace, agent: { hooks } })).rejects.toThrow("+other");
});

test("a trace that is torn or damaged cannot be under test", async () => {
  await appendFile(trace, '{"torn');
  await expect(checkReplay(trace, { workspace })).rejects.toThrow("is left out; a trace under test must be whole");
  await appendFile(trace, `\n${toJsonLine(userText("on"))}`);
  await expect(checkReplay(trace, { workspace })).rejects.toThrow(
    /that cannot be read left out: .*; a trace under test/,
  );
});

async function record(): Promise<void> {
  await using temp = await tempAgent({
    createLLM: () =>
      scriptedLLM(
        { calls: [{ name: "exec_command", args: { description: "d", cmd: "cat a.txt; touch b" } }] },
        "It says one.",
      ),
  });
  await writeFile(join(temp.workspaceDir, "a.txt"), "one\n");
  const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir });
  const recorded = await collectRun(session, [userText("What is in a.txt?")], { approve: async () => "allow" });
  await writeFile(trace, recorded.trace.map(toJsonLine).join(""));
}
