import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isSessionMeta, type OmniMessage, ofType, type ReplayReport, replayTrace } from "@rookery/core";
import { checkReplay, readTraceMessages, ruleViolations, tempAgent } from "@rookery/core/testing";
import { afterAll, expect, test } from "vitest";
import { demoRecords, unpackProject } from "./demo-files.ts";
import { runProjectTests } from "./run-project-tests.ts";

const root = mkdtempSync(join(tmpdir(), "rookery-demo-files-"));
afterAll(() => rmSync(root, { recursive: true }));

test("the shipped recording is a legal trace of one run, and names no place of the machine it was made on", async () => {
  const records = await demoRecords();
  expect(ruleViolations(records, { trace: true })).toEqual([]);
  expect(records.find(isSessionMeta)?.payload).toMatchObject({
    workspace: "/rookery-demo/workspace",
    agent_state: expect.stringMatching(/^\/rookery-demo\/root\//),
  });
  expect(ofType(records, "tool_call_output").map(({ payload }) => payload.stop_reason)).toEqual([
    "failed",
    ...Array(4).fill("completed"),
  ]);
});

test("the tests of the project fail before the recording is played and pass after it", async () => {
  const place = mkdtempSync(join(root, "project-"));
  await unpackProject(place);
  const { signal } = new AbortController();
  expect(await runProjectTests(place, process.env, signal)).toEqual({ pass: 2, fail: 2, ok: false });
  await played(await demoRecords(), place);
  expect(await runProjectTests(place, process.env, signal)).toEqual({ pass: 4, fail: 0, ok: true });
});

test("tests that cannot be run have not passed", async () => {
  const { signal } = new AbortController();
  expect(await runProjectTests("/no/such/directory", {}, signal)).toEqual({ pass: 0, fail: 0, ok: false });
});

test("the demo's own trace is replayed without a difference, and a tool that behaves otherwise is one", async () => {
  const place = mkdtempSync(join(root, "project-"));
  await unpackProject(place);
  const trace = await played(await demoRecords(), place);
  const check = (agent: NonNullable<Parameters<typeof checkReplay>[1]>["agent"] = {}): Promise<ReplayReport> =>
    checkReplay(trace, { prepare: unpackProject, agent });
  expect((await check()).calls).toHaveLength(5);

  const numbered = {
    afterToolCall: async ({ result }: { result: { output: string } }) => ({ output: `1. ${result.output}` }),
  };
  await expect(check({ hooks: numbered })).rejects.toThrow(/^the replay of session-\S+ differs/);
  const gone = { beforeToolCall: async () => ({ block: true as const, reason: "gone" }) };
  await expect(check({ hooks: gone })).rejects.toThrow("stop_reason: completed -> failed");
});

/** @returns What the replay recorded. */
async function played(records: readonly OmniMessage[], workspaceDir: string): Promise<OmniMessage[]> {
  await using temp = await tempAgent();
  const replay = replayTrace(records, { agent: temp.agent, workspaceDir });
  let step = await replay.next();
  while (!step.done) step = await replay.next();
  return await readTraceMessages(step.value.traceFile);
}
