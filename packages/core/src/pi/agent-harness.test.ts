import { join } from "node:path";
import { expect, expectTypeOf, onTestFinished, test } from "vitest";
import { callOf, scriptedStreamFn, testDirectory, textOf } from "../../test/support/pi-agent.ts";
import type { AgentHarnessTool } from "../environment/agent-tool.ts";
import { Agent } from "./agent.ts";
import { AgentHarness } from "./agent-harness.ts";

interface ToolContext {
  readonly userId: string;
  readonly permissions: readonly string[];
}

const whoami: AgentHarnessTool<ToolContext> = {
  name: "whoami",
  label: "Who Am I",
  description: "Says who.",
  parameters: {},
  execute: async (_id, _params, _signal, _onUpdate, context) => {
    seen.push(context);
    if (!context.permissions.includes("ask")) throw new Error("Permission denied");
    return { content: [{ type: "text", text: context.userId }] };
  },
};

const seen: ToolContext[] = [];

test("every call gets exactly the object that was given; a throw over it is an error result, and the session goes on (PI-066, PI-067, PI-069)", async () => {
  const directory = await testDirectory();
  const toolContext: ToolContext = { userId: "user123", permissions: [] };
  const streamFn = scriptedStreamFn([callOf("whoami"), callOf("whoami", {}, "call_2")], [textOf("Denied.")]);
  const options = {
    systemPrompt: "Be brief.",
    thinkingLevel: "low",
    cwd: directory,
    root: join(directory, "root"),
  } as const;
  const harness = new AgentHarness({ tools: [whoami], toolContext, streamFn, ...options });
  onTestFinished(() => harness.dispose());
  await harness.prompt("Who am I?");
  expect(seen).toHaveLength(2);
  for (const context of seen) expect(context).toBe(toolContext);
  expect(harness.state.messages.map((message) => ("isError" in message ? message.isError : message.role))).toEqual([
    "user",
    "assistant",
    true,
    true,
    "assistant",
  ]);
  expect(streamFn.asked[0]?.systemPrompt).toBe("Be brief.");
  expect(harness).toBeInstanceOf(Agent);
});

test("the context's type is checked (PI-068) [type]", () => {
  const harness = new AgentHarness({ tools: [whoami], toolContext: { userId: "a", permissions: [] } });
  expectTypeOf(harness).toEqualTypeOf<AgentHarness<ToolContext>>();
  // @ts-expect-error: permissions are missing.
  new AgentHarness({ tools: [whoami], toolContext: { userId: "a" } });
  // @ts-expect-error: a context is needed.
  new AgentHarness({ tools: [whoami] });
});
