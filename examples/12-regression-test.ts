/*
 * An agent under regression test: a session is recorded once, and from then on `checkReplay` plays its model's side and
 * runs the tools of today against it. No model is asked, so that it is fast and free; whatever a tool gives back otherwise
 * than it did is an error that shows the lines. In a project of yours the record is a file beside the test; see
 * docs/regression-tests.md.
 */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type AgentTool, defineTool, runToEnd, userText } from "@rookery/core";
import { checkReplay, readTraceMessages, scriptedLLM, tempAgent } from "@rookery/core/testing";

/** The tool under test, as it is and as somebody might break it. */
function countWords(count: (text: string) => number): AgentTool {
  return defineTool({
    name: "count_words",
    label: "Count words",
    description: "Counts the words of a text.",
    parameters: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
    execute: async (_id, { text }) => {
      const words = count(String(text));
      return {
        content: [{ type: "text", text: `${words} words, counted at ${new Date().toISOString()}` }],
        details: {},
      };
    },
  });
}
const good = countWords((text) => text.trim().split(/\s+/).length);
const broken = countWords((text) => text.split(" ").length);

// Recorded once. A script stands for the model here.
const calls = [
  { name: "read_file", args: { file_path: "poem.txt" } },
  { name: "count_words", args: { text: "Roses  are red" } },
];
const prepare = (workspaceDir: string): Promise<void> => writeFile(join(workspaceDir, "poem.txt"), "Roses  are red\n");
await using temp = await tempAgent({ createLLM: () => scriptedLLM({ calls }, "Three words."), tools: [good] });
await prepare(temp.workspaceDir);
const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir });
await runToEnd(session, [userText("How many words has poem.txt?")], { approve: async () => "allow" });
const records = await readTraceMessages(session.traceFile);

// Checked ever after. The time of day is another one, which does not count.
const report = await checkReplay(records, { prepare, agent: { tools: [good] } });
console.log(`${report.calls.length} calls as recorded`);
assert.equal(report.calls.length, 2);

const failure = await checkReplay(records, { prepare, agent: { tools: [broken] } }).catch((error: Error) => error);
assert.ok(failure instanceof Error);
console.log(failure.message);
assert.match(failure.message, /count_words .*\n.*\n {2}-3 words, counted at <time>\n {2}\+4 words, counted at <time>/);
