/*
 * Who decides: an `ApproveFn` gets each call with its risk and a summary a person can decide by, and answers `allow` or
 * `deny`, with a reason for the model if it likes. `approver` makes one of the modes that the command line has; what a mode
 * leaves to a person goes to `ask`. Here reads pass unasked, writes are allowed, and commands are refused.
 */
import assert from "node:assert/strict";
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type ApproveFn, approver, ofType, runToEnd, userText } from "@rookery/core";
import { scriptedLLM, tempAgent } from "@rookery/core/testing";

const decideByRisk: ApproveFn = async (_toolCall, { risk, summary }) => {
  console.log(`${risk}: ${summary}`);
  return risk === "filesystem" ? "allow" : { decision: "deny", reason: "this session runs no commands" };
};

const llm = scriptedLLM(
  {
    calls: [
      { name: "read_file", args: { file_path: "notes.txt" } },
      { name: "write_file", args: { file_path: "copy.txt", content: "milk\n" } },
      { name: "exec_command", args: { description: "Removes the notes.", cmd: "rm notes.txt" } },
    ],
  },
  "Copied; I may not remove the notes.",
  { calls: [{ name: "read_file", args: { file_path: "notes.txt" } }] },
  "Nobody answers.",
);
await using temp = await tempAgent({ createLLM: () => llm });
await writeFile(join(temp.workspaceDir, "notes.txt"), "milk\n");
const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir });

const approve = approver({ mode: "read-only", ask: decideByRisk });
const { outcome, messages } = await runToEnd(session, [userText("Move my notes")], { approve });
assert.deepEqual(
  ofType(messages, "approval_decision").map(({ payload }) => [payload.decision, payload.decided_by]),
  [
    ["allow", "mode"],
    ["allow", "user"],
    ["deny", "user"],
  ],
);
assert.deepEqual(outcome.denied, [{ tool: "exec_command", reason: "this session runs no commands" }]);
assert.deepEqual(await readdir(temp.workspaceDir), ["copy.txt", "notes.txt"]);

// With nobody to ask, whatever a mode leaves to a person is denied, and the run says so.
const unattended = await runToEnd(session, [userText("Again")], { approve: approver({ mode: "always-ask" }) });
assert.equal(unattended.outcome.code, "approval-unanswered");
