import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { Agent } from "../../src/pi/agent.ts";
import type { AssistantBlock, AssistantMessage } from "../../src/pi/agent-message.ts";
import type { AgentOptions } from "../../src/pi/agent-options.ts";
import type { StreamContext, StreamFn } from "../../src/pi/stream-fn.ts";

/** A directory for one test. */
export async function testDirectory(): Promise<string> {
  const path = await realpath(await mkdtemp(join(tmpdir(), "pi-test-")));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  return path;
}

/** An agent that records below a directory of its own and works in it; warnings are collected. */
export async function testAgent(options: AgentOptions): Promise<{ agent: Agent; cwd: string; warnings: string[] }> {
  const cwd = await testDirectory();
  const warnings: string[] = [];
  const onWarning: AgentOptions["onWarning"] = ({ message }) => warnings.push(message);
  const agent = new Agent({ cwd, root: join(cwd, "root"), onWarning, ...options });
  onTestFinished(() => agent.dispose());
  return { agent, cwd, warnings };
}

/** A `StreamFn` that says one reply after another and keeps what it was asked. */
export function scriptedStreamFn(...replies: readonly (readonly AssistantBlock[])[]): StreamFn & {
  readonly asked: readonly StreamContext[];
} {
  const asked: StreamContext[] = [];
  const streamFn: StreamFn = async function* (_model, context) {
    const content = replies[asked.length] ?? [];
    asked.push(context);
    yield { type: "done", message: reply(content) };
  };
  return Object.assign(streamFn, { asked });
}

export function reply(content: readonly AssistantBlock[]): AssistantMessage {
  const stopReason = content.some(({ type }) => type === "toolCall") ? "toolUse" : "stop";
  return { role: "assistant", content, stopReason, timestamp: 0 };
}

export function callOf(name: string, args: Record<string, unknown> = {}, id = "call_1"): AssistantBlock {
  return { type: "toolCall", id, name, arguments: args };
}

export function textOf(text: string): AssistantBlock {
  return { type: "text", text };
}
