import { appendFile, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Hooks } from "../engine/hooks.ts";
import { userText } from "../omnimessage/build.ts";
import { isSessionMeta } from "../omnimessage/guards.ts";
import { toJsonLine } from "../omnimessage/json-lines.ts";
import type { OmniMessage } from "../omnimessage/message.ts";
import { checkReplay } from "./check-replay.ts";
import { collectRun, readTraceMessages } from "./collect-run.ts";
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

test("a hook under test that no longer blocks what it blocked is found out, and nothing runs", async () => {
  const veto = { beforeToolCall: async () => ({ block: true, reason: "never" }) as const };
  await record({ hooks: veto });
  await checkReplay(trace, { workspace });
  await checkReplay(trace, { workspace, agent: { hooks: veto } });
  const broken = { beforeToolCall: async () => undefined };
  await expect(checkReplay(trace, { workspace, agent: { hooks: broken } })).rejects.toThrow(
    /stop_reason: failed -> aborted\n[\s\S]*-Tool call blocked: never\n/,
  );
});

test("what a call writes through a link of the workspace under test stays in the copy", async () => {
  await symlink("a.txt", join(workspace, "link"));
  await record({ cmd: "echo two > link; cat a.txt", link: "a.txt" });
  await checkReplay(trace, { workspace });
  expect(await readFile(join(workspace, "a.txt"), "utf8")).toBe("one\n");
});

test("a short workspace path is left alone where it is a route", async () => {
  const route = 'get("/appz")';
  await writeFile(join(workspace, "r.js"), route);
  await record({ cmd: `cat a.txt; ls ~/appz $\{PWD%/*}/appz ; cat r.js`, edit: route });
  const records = await recordsUnder("/appz");
  await checkReplay(records, { workspace });
});

test("a trace without a reply cannot be under test", async () => {
  await writeFile(trace, (await readFile(trace, "utf8")).split("\n").slice(0, 2).join("\n"));
  await expect(checkReplay(trace, { workspace })).rejects.toThrow("they hold no whole reply of a model");
});

test("a trace that is torn or damaged cannot be under test", async () => {
  await appendFile(trace, '{"torn');
  await expect(checkReplay(trace, { workspace })).rejects.toThrow("is left out; a trace under test must be whole");
  await appendFile(trace, `\n${toJsonLine(userText("on"))}`);
  await expect(checkReplay(trace, { workspace })).rejects.toThrow(
    /that cannot be read left out: .*; a trace under test/,
  );
});

interface Recording {
  readonly cmd?: string;
  readonly hooks?: Hooks;
  /** Where a link in the workspace leads. */
  readonly link?: string;
  /** What the file r.js holds and is edited in. */
  readonly edit?: string;
}

async function record({ cmd = "cat a.txt; touch b", hooks = {}, link, edit }: Recording = {}): Promise<void> {
  const calls = [
    { name: "exec_command", args: { description: "d", cmd } },
    ...(edit ? [{ name: "edit_file", args: { file_path: "r.js", old_string: edit, new_string: `${edit};` } }] : []),
  ];
  const turns = calls.map((call) => ({ calls: [call] }));
  await using temp = await tempAgent({ createLLM: () => scriptedLLM(...turns, "It says one."), hooks });
  await writeFile(join(temp.workspaceDir, "a.txt"), "one\n");
  if (edit) await writeFile(join(temp.workspaceDir, "r.js"), edit);
  if (link) await symlink(link, join(temp.workspaceDir, "link"));
  const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir });
  const recorded = await collectRun(session, [userText("What is in a.txt?")], { approve: async () => "allow" });
  await writeFile(trace, recorded.trace.map(toJsonLine).join(""));
}

/** The records as if the session had run in another directory. */
async function recordsUnder(workspaceDir: string): Promise<OmniMessage[]> {
  const records = await readTraceMessages(trace);
  const { workspace = "" } = records.find(isSessionMeta)?.payload ?? {};
  return JSON.parse(JSON.stringify(records).replaceAll(workspace, workspaceDir)) as OmniMessage[];
}
