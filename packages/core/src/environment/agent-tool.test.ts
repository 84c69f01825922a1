import { Type } from "typebox";
import { describe, expect, expectTypeOf, test, vi } from "vitest";
import { collectOutput } from "../../test/support/collect-output.ts";
import { driveTool } from "../../test/support/drive-tool.ts";
import { modelMessage } from "../omnimessage/build.ts";
import { ofType } from "../omnimessage/guards.ts";
import { isBuiltinTool, toBuiltinTool } from "./adapt-agent-tool.ts";
import {
  type AgentHarnessTool,
  type AgentTool,
  type AgentToolResult,
  type AgentToolUpdateCallback,
  defineTool,
} from "./agent-tool.ts";
import { Environment } from "./environment.ts";

function tool(execute: AgentTool["execute"], more: Partial<AgentTool> = {}): AgentTool {
  return { name: "work", label: "Work", description: "Works.", parameters: {}, execute, ...more };
}

function drive(agentTool: AgentTool, signal?: AbortSignal) {
  return driveTool(toBuiltinTool(agentTool), {}, { workspaceDir: "/", ...(signal && { signal }) });
}

/** Runs the tool as an environment does. */
function execute(agentTool: AgentTool, args: unknown = {}, signal?: AbortSignal) {
  const environment = new Environment({
    workspaceDir: "/",
    toolConfig: { customTools: [], mcpServers: [] },
    tools: [toBuiltinTool(agentTool)],
    toolContext: { user: "ada" },
  });
  const toolCall = modelMessage({
    type: "tool_call",
    role: "assistant",
    name: agentTool.name,
    arguments: JSON.stringify(args),
    tool_call_id: "call_1",
  });
  return collectOutput(environment.executeTool({ toolCall, ...(signal && { signal }) }));
}

const text = (text: string): AgentToolResult => ({ content: [{ type: "text", text }] });

describe("types", () => {
  test("a tool has name, label, description, parameters and execute (PI-001, PI-004)", () => {
    expectTypeOf<AgentTool>().toHaveProperty("label").toEqualTypeOf<string>();
    expectTypeOf<AgentTool>().toHaveProperty("description").toEqualTypeOf<string>();
    expectTypeOf<AgentTool<object, { n: number }>["execute"]>().returns.toEqualTypeOf<
      Promise<AgentToolResult<{ n: number }>>
    >();
    expectTypeOf<AgentTool<object, { n: number }>["execute"]>()
      .parameter(3)
      .toEqualTypeOf<AgentToolUpdateCallback<{ n: number }> | undefined>();
    expectTypeOf<{ content: [] }>().toExtend<AgentToolResult<{ n: number }>>();
  });

  test("params follow from a TypeBox schema (PI-005)", () => {
    const parameters = Type.Object({
      city: Type.String({ description: "City name" }),
      days: Type.Optional(Type.Integer()),
      exact: Type.Boolean(),
      unit: Type.Union([Type.Literal("C"), Type.Literal("F")]),
      kind: Type.Enum(["a", "b"]),
      tags: Type.Array(Type.Object({ name: Type.String(), nothing: Type.Null() })),
      pair: Type.Tuple([Type.String(), Type.Number()]),
      headers: Type.Record(Type.String(), Type.Number()),
      both: Type.Intersect([Type.Object({ a: Type.String() }), Type.Object({ b: Type.Number() })]),
      any: Type.Unknown(),
      own: Type.Unsafe<Date>({}),
    });
    const forecast = defineTool({ name: "f", label: "F", description: "", parameters, execute: async () => text("") });
    type Params = Parameters<typeof forecast.execute>[1];
    expectTypeOf<Params["city"]>().toEqualTypeOf<string>();
    expectTypeOf<Params["days"]>().toEqualTypeOf<number | undefined>();
    expectTypeOf<Params["exact"]>().toEqualTypeOf<boolean>();
    expectTypeOf<Params["unit"]>().toEqualTypeOf<"C" | "F">();
    expectTypeOf<Params["kind"]>().toEqualTypeOf<"a" | "b">();
    expectTypeOf<Params["tags"]>().toEqualTypeOf<{ name: string; nothing: null }[]>();
    expectTypeOf<Params["pair"]>().toEqualTypeOf<[string, number]>();
    expectTypeOf<Params["headers"]>().toEqualTypeOf<Record<string, number>>();
    expectTypeOf<Params["both"]>().toExtend<{ a: string; b: number }>();
    expectTypeOf<Params["any"]>().toEqualTypeOf<unknown>();
    expectTypeOf<Params["own"]>().toEqualTypeOf<Date>();
    expectTypeOf<Partial<Params>>().not.toEqualTypeOf<Params>();
  });

  test("params follow from a schema written in place, and are any object where the type does not tell", () => {
    const parameters = {
      type: "object",
      properties: { a: { type: "string" }, b: { type: "number" } },
      required: ["a"],
    };
    const loose = defineTool({ name: "l", label: "L", description: "", parameters, execute: async () => text("") });
    expectTypeOf<Parameters<typeof loose.execute>[1]>().toEqualTypeOf<Record<string, unknown>>();
    const exact = defineTool({
      name: "e",
      label: "E",
      description: "",
      parameters: { type: "object", properties: { a: { type: "string" }, b: { type: "number" } }, required: ["a"] },
      execute: async (_id, params) => text(params.a.repeat(params.b ?? 1)),
    });
    expectTypeOf<Parameters<typeof exact.execute>[1]>().toEqualTypeOf<{ a: string; b?: number }>();
    expectTypeOf<Parameters<AgentTool["execute"]>[1]>().toEqualTypeOf<Record<string, unknown>>();
  });

  test("a tool of any schema is an AgentTool, and so is one that takes a context", () => {
    const typed = defineTool({
      name: "t",
      label: "T",
      description: "",
      parameters: Type.Object({ n: Type.Number() }),
      execute: async (_id, { n }) => ({ content: [], details: { n } }),
    });
    expectTypeOf(typed).toExtend<AgentTool>();
    expectTypeOf<AgentHarnessTool<{ user: string }>>().toExtend<AgentTool>();
    expectTypeOf<AgentHarnessTool<{ user: string }>["execute"]>().parameter(4).toEqualTypeOf<{ user: string }>();
  });
});

describe("results", () => {
  test("blocks that are none and updates without a result count as nothing", async () => {
    const content = [null, 5, "text", {}, { type: "text" }, { type: "text", text: 7 }, { type: "text", text: "one" }];
    const { complete } = await execute(
      tool(async (_id, _params, _signal, onUpdate) => {
        for (const update of [undefined, null, 5, { content: [null] }])
          onUpdate?.(update as unknown as AgentToolResult);
        return { content } as unknown as AgentToolResult;
      }),
    );
    expect(complete).toMatchObject({ output: "one", stop_reason: "completed" });
  });

  test("an image block without data or type is left out, and said to be", async () => {
    const content = [
      { type: "image" },
      { type: "image", mimeType: "image/png", data: "" },
      { type: "text", text: "one" },
    ];
    const { complete } = await execute(tool(async () => ({ content }) as unknown as AgentToolResult));
    expect(complete.output).toBe(
      "one\n[an image was left out: it is no base64 data URL of a png, jpeg, gif or webp image]\n[an image was left out: it is empty]",
    );
    expect(complete.images).toBeUndefined();
  });

  test("texts are joined by newlines and images follow in their order as data URLs (PI-007)", async () => {
    const { complete } = await execute(
      tool(async () => ({
        content: [
          { type: "image", data: "AA==", mimeType: "image/png" },
          { type: "text", text: "one" },
          { type: "image", data: "BB==", mimeType: "image/gif" },
          { type: "text", text: "two" },
        ],
      })),
    );
    expect(complete).toMatchObject({
      output: "one\ntwo",
      images: ["data:image/png;base64,AA==", "data:image/gif;base64,BB=="],
      stop_reason: "completed",
    });
  });

  test("details are kept beside the output, and a result without them works (PI-008, PI-009)", async () => {
    expect((await execute(tool(async () => ({ ...text("x"), details: { rows: 3 } })))).complete).toMatchObject({
      output: "x",
      details: { rows: 3 },
    });
    expect((await execute(tool(async () => text("x")))).complete).not.toHaveProperty("details");
  });

  test("usage has pi's fields (PI-011) [type]", () => {
    type Cost = Record<"input" | "output" | "cacheRead" | "cacheWrite" | "total", number>;
    type Usage = Record<"input" | "output" | "cacheRead" | "cacheWrite" | "totalTokens", number> & { cost: Cost };
    expectTypeOf<Usage>().toExtend<NonNullable<AgentToolResult["usage"]>>();
    expectTypeOf<NonNullable<AgentToolResult["usage"]>>().toExtend<Readonly<Usage>>();
  });

  test("usage, terminate and addedToolNames are handed on (PI-013)", async () => {
    const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
    const usage = { input: 1, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 1, cost };
    const result = { ...text("x"), usage, terminate: true, addedToolNames: ["late"] };
    expect((await execute(tool(async () => result))).complete).toMatchObject({
      usage,
      terminate: true,
      added_tool_names: ["late"],
    });
  });

  test("isError marks the result as failed, with its content as the output (PI-014)", async () => {
    const failed = tool(async () => ({ ...text("Failed to read file: permission denied"), isError: true }));
    expect((await execute(failed)).complete).toMatchObject({
      output: "Failed to read file: permission denied",
      stop_reason: "failed",
    });
  });

  test.for([{}, { content: null }, undefined, { content: [{ type: "sound" }] }])(
    "a result without usable content (%j) is [no output]",
    async (result) => {
      const { complete } = await execute(tool(async () => result as unknown as AgentToolResult));
      expect(complete).toMatchObject({ output: "[no output]", stop_reason: "completed" });
    },
  );
});

describe("throws", () => {
  test("a throw is a failed call with the message as its output (PI-076)", async () => {
    const { complete } = await execute(tool(() => Promise.reject(new Error("the service is down"))));
    expect(complete).toMatchObject({ output: "the service is down", stop_reason: "failed" });
    const atOnce = tool(() => {
      throw new Error("bad start");
    });
    expect((await execute(atOnce)).complete).toMatchObject({ output: "bad start", stop_reason: "failed" });
  });

  test("a TimeoutError of the tool's own is a time-out with its message (PI-075)", async () => {
    const slow = tool(() => Promise.reject(new DOMException("the service took too long", "TimeoutError")));
    expect((await execute(slow)).complete).toMatchObject({
      output: "the service took too long",
      stop_reason: "timeout",
    });
  });

  test("a throw after abort or time-out ends the call as such (PI-075)", async () => {
    const untilAbort = tool(async (_id, _params, signal) => {
      if (!signal?.aborted) await new Promise((resolve) => signal?.addEventListener("abort", resolve));
      throw new Error("Operation aborted");
    });
    const timed = await execute({ ...untilAbort, timeoutMs: 5 });
    expect(timed.complete).toMatchObject({ output: "[timed out after 0.005 s]", stop_reason: "timeout" });
    const controller = new AbortController();
    setImmediate(() => controller.abort());
    const aborted = await execute(untilAbort, {}, controller.signal);
    expect(aborted.complete).toMatchObject({ output: "[interrupted]", stop_reason: "aborted" });
  });

  test("a tool called with a signal that has fired can throw at once (PI-078)", async () => {
    const strict = tool(async (_id, _params, signal) => {
      if (signal?.aborted) throw new Error("Operation aborted");
      return text("ran");
    });
    expect((await drive(strict, AbortSignal.abort())).result).toEqual({ stopReason: "aborted" });
    const timeout = AbortSignal.abort(new DOMException("late", "TimeoutError"));
    expect((await drive(strict, timeout)).result).toEqual({ stopReason: "timeout" });
    expect((await execute(strict, {}, AbortSignal.abort())).complete.stop_reason).toBe("aborted");
  });

  test("a tool may be executed without a signal (PI-006)", async () => {
    const { text: output, result } = await drive(tool(async (_id, _params, signal) => text(`${signal}`)));
    expect({ output, result }).toEqual({ output: "undefined", result: { stopReason: "completed", images: [] } });
  });
});

describe("updates", () => {
  test("each update is one tool_progress, in order and before the output (PI-019)", async () => {
    const details = { done: 0 };
    const { messages } = await execute(
      tool(async (_id, _params, _signal, onUpdate) => {
        for (const n of [1, 2]) {
          details.done = n;
          onUpdate?.({ content: [{ type: "text", text: `${n} of 2` }], details });
        }
        await new Promise((resolve) => setImmediate(resolve));
        onUpdate?.(text("last"));
        onUpdate?.({ content: [] });
        return text("done");
      }),
    );
    expect(ofType(messages, "tool_progress").map(({ payload }) => payload)).toEqual([
      { type: "tool_progress", tool_call_id: "call_1", text: "1 of 2", details: { done: 1 } },
      { type: "tool_progress", tool_call_id: "call_1", text: "2 of 2", details: { done: 2 } },
      { type: "tool_progress", tool_call_id: "call_1", text: "last" },
      { type: "tool_progress", tool_call_id: "call_1" },
    ]);
    const types = messages.map(({ payload }) => payload.type);
    expect(types.lastIndexOf("tool_progress")).toBeLessThan(types.indexOf("partial_tool_call_output", 1));
  });

  test("an update that comes while the reader is busy with another is not held back", async () => {
    let update: AgentToolUpdateCallback | undefined;
    const agentTool = tool((_id, _params, _signal, onUpdate) => {
      update = onUpdate;
      onUpdate?.(text("one"));
      return new Promise(() => {});
    });
    const run = toBuiltinTool(agentTool).execute({}, { workspaceDir: "/", toolCallId: "call_1" });
    expect((await run.next()).value).toMatchObject({ payload: { text: "one" } });
    update?.(text("two"));
    expect((await run.next()).value).toMatchObject({ payload: { text: "two" } });
  });

  test("an update after the call has settled is ignored", async () => {
    let late: AgentToolUpdateCallback | undefined;
    const agentTool = tool(async (_id, _params, _signal, onUpdate) => {
      late = onUpdate;
      return text("done");
    });
    const run = toBuiltinTool(agentTool).execute({}, { workspaceDir: "/", toolCallId: "call_1" });
    expect((await run.next()).value).toMatchObject({ payload: { output: "done" } });
    late?.(text("late"));
    expect(await run.next()).toMatchObject({ done: true });
  });
});

describe("adaptation", () => {
  test("execute is given id, params, signal, callback and context, params prepared and checked (PI-003)", async () => {
    const run = vi.fn(async () => text("x"));
    const deploy = tool(run, {
      parameters: Type.Object({ n: Type.Integer() }),
      prepareArguments: (raw) => ({ n: (raw as { count: string }).count }),
    });
    await execute(deploy, { count: "3" });
    expect(run).toHaveBeenCalledExactlyOnceWith("call_1", { n: 3 }, expect.any(AbortSignal), expect.any(Function), {
      user: "ada",
    });
  });

  test("definition and traits are taken over, and methods keep their object", async () => {
    class Counter {
      readonly name = "count";
      readonly label = "Count";
      readonly description = "Counts.";
      readonly parameters = Type.Object({});
      readonly hidden = true;
      readonly timeoutMs = 7;
      readonly maxOutputLength = 8;
      readonly truncation = "head_tail";
      readonly risk = "filesystem";
      readonly executionMode = "sequential";
      readonly start = 5;
      assessRisk(): "read_only" {
        return "read_only";
      }
      approvalSummary(): string {
        return `from ${this.start}`;
      }
      commandText(): string {
        return `seq ${this.start}`;
      }
      paths(): { read: string[] } {
        return { read: [`/${this.start}`] };
      }
      prepareArguments(): Record<string, never> {
        return {};
      }
      async execute(): Promise<AgentToolResult> {
        return text(`${this.start}`);
      }
    }
    const builtin = toBuiltinTool(new Counter());
    expect(builtin).toMatchObject({ name: "count", risk: "filesystem", executionMode: "sequential" });
    expect(builtin.definition).toEqual({
      name: "count",
      description: "Counts.",
      parameters: { type: "object", properties: {} },
      label: "Count",
      hidden: true,
      timeoutMs: 7,
      maxOutputLength: 8,
      truncation: "head_tail",
    });
    const context = { workspaceDir: "/" };
    expect(builtin.assessRisk?.({}, context)).toBe("read_only");
    expect(builtin.approvalSummary?.({}, context)).toBe("from 5");
    expect(builtin.commandText?.({})).toBe("seq 5");
    expect(builtin.paths?.({})).toEqual({ read: ["/5"] });
    expect(builtin.prepareArguments?.(5)).toEqual({});
    expect((await execute(new Counter())).complete.output).toBe("5");
  });

  test("isBuiltinTool tells the two kinds apart", () => {
    const agentTool = tool(async () => text(""));
    expect([isBuiltinTool(agentTool), isBuiltinTool(toBuiltinTool(agentTool))]).toEqual([false, true]);
  });
});
