// Records the session that `rookery demo` plays: drives a scripted model through a real session on the broken project,
// and writes its trace with placeholders in place of the directories of this run.
//
//   node scripts/record-demo.mjs
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cp, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { register } from "tsx/esm/api";

register();
const { userText } = await import("../packages/core/src/index.ts");
const { collectRun, scriptedLLM, tempAgent } = await import("../packages/core/src/testing/index.ts");

const files = join(import.meta.dirname, "..", "packages", "cli", "src", "demo", "demo-files");
const TESTS = "node --test --test-reporter=spec";

const temp = await tempAgent();
const at = (file) => join(temp.workspaceDir, file);
await cp(join(files, "project"), temp.workspaceDir, { recursive: true });

const usage = (cache_read, cache_write, output) => ({
  cache_read,
  cache_write,
  output,
  total: cache_read + cache_write + output,
});
const model = scriptedLLM(
  {
    thinking: "Before I change anything I want to see how the tests fail.",
    text: "I run the tests first.",
    calls: [{ name: "exec_command", args: { description: "Run the tests", cmd: TESTS } }],
    usage: usage(0, 1412, 61),
  },
  {
    text: "Two of four fail: signs leave empty words behind. I read the function, and what it is made of.",
    calls: [
      { name: "read_file", args: { file_path: at("src/slug.js") } },
      { name: "read_file", args: { file_path: at("src/words.js") } },
    ],
    usage: usage(1412, 702, 94),
  },
  {
    thinking:
      "slug only joins. words splits at every single sign, so that two in a row have an empty word between them.",
    text: "`slug` is right. `words` splits at each sign by itself, and two in a row have nothing between them. I drop what is empty.",
    calls: [
      {
        name: "edit_file",
        args: {
          file_path: at("src/words.js"),
          old_string: "plain.split(/[^a-z0-9]/);",
          new_string: 'plain.split(/[^a-z0-9]/).filter((word) => word !== "");',
        },
      },
    ],
    usage: usage(2114, 318, 152),
  },
  {
    text: "Now the tests again.",
    calls: [{ name: "exec_command", args: { description: "Run the tests again", cmd: TESTS } }],
    usage: usage(2432, 271, 48),
  },
  {
    text: "All four tests pass. The fault was in `src/words.js`: splitting left empty words between signs. They are filtered out now, and `slug` is unchanged.",
    usage: usage(2703, 236, 41),
  },
);
const session = await temp.agent.createSession({
  workspaceDir: temp.workspaceDir,
  createLLM: () => model,
  provider: "demo",
  modelId: "recorded",
});
const prompt = "The tests of this project fail. Find out why, repair it, and run them again.";
const { outcome, trace } = await collectRun(session, [userText(prompt)], {
  approve: async () => ({ decision: "allow", decidedBy: "mode" }),
});

const outputs = trace
  .filter(({ payload }) => payload.type === "tool_call_output")
  .map(({ payload }) => payload.stop_reason);
assert.deepEqual(outputs, ["failed", "completed", "completed", "completed", "completed"]);
assert.equal(outcome.status, "completed");
assert.equal(spawnSync(process.execPath, ["--test"], { cwd: temp.workspaceDir }).status, 0);

const recorded = (await readFile(session.traceFile, "utf8"))
  .replaceAll(temp.workspaceDir, "/rookery-demo/workspace")
  .replaceAll(temp.root, "/rookery-demo/root");
for (const place of [tmpdir(), dirname(import.meta.dirname)]) {
  assert.ok(!recorded.includes(place), `the recording still names ${place}`);
}
await writeFile(join(files, "session.jsonl"), recorded);
await temp.dispose();
console.log(`recorded ${trace.length} messages in ${join(files, "session.jsonl")}`);
