import type { ToolResult } from "../../src/environment/contract.ts";
import type { BuiltinTool, ToolExecutionContext } from "../../src/environment/tool.ts";
import { isType } from "../../src/omnimessage/guards.ts";
import type { OmniMessage } from "../../src/omnimessage/message.ts";

/** Runs a tool alone, without an environment: its joined deltas, its result, and everything it yielded. */
export async function driveTool(
  tool: BuiltinTool,
  args: Record<string, unknown>,
  context: Partial<ToolExecutionContext> & { workspaceDir: string },
): Promise<{ text: string; result: ToolResult; messages: OmniMessage[] }> {
  const messages: OmniMessage[] = [];
  const run = tool.execute(args, { toolCallId: "call_1", ...context });
  for (;;) {
    const step = await run.next();
    if (step.done) {
      const text = messages
        .filter((message) => isType(message, "partial_tool_call_output"))
        .map((message) => (message.payload as { output: string }).output)
        .join("");
      return { text, result: step.value ?? {}, messages };
    }
    messages.push(step.value);
  }
}
