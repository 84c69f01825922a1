/*
 * The tools without an agent: an `Environment` runs calls by itself, with the same limits and the same form of output as in
 * a session. Output that is too long for a model is cut, and all of it is kept in a file below the scratch directory,
 * whose path stands in the output and can be read with `read_file`. Nobody is asked: approval is the session's.
 */
import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Environment, modelMessage, type OmniMessage, ofType, STANDARD_TOOLSET } from "@rookery/core";

const directory = await mkdtemp(join(tmpdir(), "rookery-example-"));
const workspaceDir = join(directory, "workspace");
await mkdir(workspaceDir);
const environment = new Environment({
  workspaceDir,
  sessionScratchpadDir: join(directory, "scratchpad"),
  toolConfig: { customTools: STANDARD_TOOLSET, mcpServers: [] },
});

let calls = 0;
async function call(name: string, args: object): Promise<string> {
  const tool_call_id = `call_${++calls}`;
  const payload = {
    type: "tool_call",
    role: "assistant",
    name,
    arguments: JSON.stringify(args),
    tool_call_id,
  } as const;
  const messages: OmniMessage[] = [];
  for await (const message of environment.executeTool({ toolCall: modelMessage(payload) })) messages.push(message);
  return ofType(messages, "tool_call_output")[0]?.payload.output ?? "";
}

const cut = await call("exec_command", { description: "Counts.", cmd: "seq 1 20000" });
const shown = cut.split("\n");
console.log(shown.slice(-4).join("\n"));
assert.ok(cut.length < 17_000);
assert.ok(shown.includes("20000"));
assert.equal(shown.includes("10000"), false);

const archive = /full text saved to (.+)\]/.exec(cut)?.[1];
const lines = await call("read_file", { file_path: archive, offset: 9500 });
const found = lines.split("\n").find((line) => line.endsWith("\t10000"));
console.log(found);
assert.ok(found);

await environment.dispose();
await rm(directory, { recursive: true });
