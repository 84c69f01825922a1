/*
 * A tool that tells how far it is. Each `onUpdate` is an event that listeners hear in order while the tool runs; the model
 * gets the final result alone. A tool that looks at its signal stops where it is.
 */
import assert from "node:assert/strict";
import { createReadStream } from "node:fs";
import { appendFile, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent, type AgentTool } from "@rookery/core/pi";
import { startProviderServer } from "@rookery/core/testing";
import { Type } from "typebox";

interface BackupDetails {
  readonly uploaded?: number;
  readonly total?: number;
  readonly database?: string;
  readonly destination?: string;
  readonly size?: number;
}

const parameters = Type.Object({ database: Type.String(), destination: Type.String() });

const backupTool: AgentTool<typeof parameters, BackupDetails> = {
  name: "backup_database",
  label: "Backup Database",
  description: "Create database backup with progress updates",
  parameters,
  execute: async (_toolCallId, params, signal, onUpdate) => {
    const { size: totalSize } = await stat(join(directory, params.database));
    let uploaded = 0;
    for await (const chunk of createReadStream(join(directory, params.database), { highWaterMark: 25 })) {
      uploaded += chunk.length;
      onUpdate?.({
        content: [{ type: "text", text: `Backup progress: ${((uploaded / totalSize) * 100).toFixed(1)}%` }],
        details: { uploaded, total: totalSize },
      });
      if (signal?.aborted) throw new Error("Backup cancelled");
      await appendFile(join(directory, params.destination), chunk);
    }
    return {
      content: [{ type: "text", text: "Backup completed successfully" }],
      details: { database: params.database, destination: params.destination, size: uploaded },
    };
  },
};

const directory = await mkdtemp(join(tmpdir(), "rookery-example-"));
await writeFile(join(directory, "shop.db"), "x".repeat(100));
await writeFile(join(directory, "logs.db"), "x".repeat(1_000_000));
const backup = (database: string, destination: string) => ({
  calls: [{ name: "backup_database", args: { database, destination } }],
});
const server = await startProviderServer({
  replies: [backup("shop.db", "whole.bak"), "The backup is there.", backup("logs.db", "half.bak")],
});
const agent = new Agent({
  initialState: {
    model: { id: "local", provider: "custom", api: "openai-completions", baseUrl: server.baseUrl("openai-chat") },
    tools: [backupTool],
  },
  cwd: directory,
  root: join(directory, "root"),
});

const seen: string[] = [];
agent.subscribe((event) => {
  if (event.type === "tool_execution_update") {
    const { content, details } = event.partialResult;
    seen.push(`${content[0]?.type === "text" && content[0].text} ${JSON.stringify(details)}`);
  }
  if (event.type === "tool_execution_end") seen.push(JSON.stringify(event.result.content));
});

await agent.prompt("Back up the shop.");
console.log(seen.join("\n"));
assert.deepEqual(seen, [
  'Backup progress: 25.0% {"uploaded":25,"total":100}',
  'Backup progress: 50.0% {"uploaded":50,"total":100}',
  'Backup progress: 75.0% {"uploaded":75,"total":100}',
  'Backup progress: 100.0% {"uploaded":100,"total":100}',
  '[{"type":"text","text":"Backup completed successfully"}]',
]);
assert.equal((await readFile(join(directory, "whole.bak"))).length, 100);
const sent = JSON.stringify(server.requests[1]?.body);
assert.ok(sent.includes("Backup completed successfully") && !sent.includes("Backup progress"));

agent.subscribe((event) => {
  if (event.type === "tool_execution_update") agent.abort();
});
await agent.prompt("Now the logs.");
assert.equal(seen.at(-1), '[{"type":"text","text":"[interrupted]"}]');
assert.ok((await stat(join(directory, "half.bak"))).size < 1_000_000);

await agent.dispose();
await server.close();
await rm(directory, { recursive: true });
