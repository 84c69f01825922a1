import { mkdtemp, realpath, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import type { CallAssessment } from "../approval/contract.ts";
import { assessCall } from "./assess-call.ts";
import { offerTool } from "./offered-tool.ts";
import type { BuiltinTool } from "./tool.ts";

const parameters = {
  type: "object",
  properties: { file_path: { type: "string" }, limit: { type: "integer" } },
  required: ["file_path"],
};

function look(more: Partial<BuiltinTool> = {}): BuiltinTool {
  return {
    name: "look",
    definition: { name: "look", description: "Looks.", parameters },
    execute: vi.fn(),
    ...more,
  };
}

function assess(args: string, tools: readonly BuiltinTool[] = [look()], name = "look"): Promise<CallAssessment> {
  const call = { type: "tool_call", role: "assistant", name, arguments: args, tool_call_id: "call_1" } as const;
  return assessCall(call, new Map(tools.map((tool) => [tool.name, offerTool(tool)])), tmpdir());
}

test("a call is assessed by what its tool declares, with the default of each trait", async () => {
  expect(await assess('{"file_path":"a","limit":"3"}')).toEqual({
    args: { file_path: "a", limit: 3 },
    risk: "process",
    summary: 'look {"file_path":"a","limit":3}',
    executionMode: "parallel",
  });
  const declared = look({
    risk: "read_only",
    executionMode: "sequential",
    assessRisk: async (args) => (args.limit === 0 ? "filesystem" : "read_only"),
    approvalSummary: (args) => `look at ${args.file_path}`,
    commandText: () => "cat a",
    assessState: async () => ({ sha256: "x" }),
  });
  expect(await assess('{"file_path":"a","limit":0}', [declared])).toEqual({
    args: { file_path: "a", limit: 0 },
    risk: "filesystem",
    summary: "look at a",
    executionMode: "sequential",
    commandText: "cat a",
    state: { sha256: "x" },
  });
});

test("assessing runs nothing", async () => {
  const tool = look();
  await assess('{"file_path":"a"}', [tool]);
  expect(tool.execute).not.toHaveBeenCalled();
});

test("a tool configured rw is at least at risk filesystem", async () => {
  const definition = { name: "look", description: "", permission: "rw" } as const;
  expect(await assess("{}", [look({ risk: "read_only", definition })])).toMatchObject({ risk: "filesystem" });
  expect(await assess("{}", [look({ risk: "delegate", definition })])).toMatchObject({ risk: "delegate" });
});

test("declared paths come back absolute and real", async () => {
  const directory = await realpath(await mkdtemp(join(tmpdir(), "rookery-assess-")));
  await symlink(directory, join(directory, "link"));
  const tool = look({ paths: (args) => ({ read: [String(args.file_path)], write: [join(directory, "link", "new")] }) });
  const { paths } = await assess(JSON.stringify({ file_path: join(directory, "link", "..", "x") }), [tool]);
  expect(paths).toEqual({ read: [join(directory, "x")], write: [join(directory, "new")] });
});

test("a default summary is shortened to 2000 characters", async () => {
  const { summary } = await assess(JSON.stringify({ file_path: "x".repeat(5000) }));
  expect(summary).toBe(`look {"file_path":"${"x".repeat(1980)}…`);
});

test("an unknown tool is named, and the valid names are listed once (PT-028)", async () => {
  const tools = [look(), look({ name: "peek", definition: { name: "peek", description: "", hidden: true } })];
  for (const name of ["constructor", "__proto__", "toString", "", "Look"]) {
    expect(await assess("{}", tools, name)).toEqual({
      error: `no tool named ${JSON.stringify(name)}; use one of look`,
      risk: "process",
      summary: `${name} {}`,
      executionMode: "parallel",
    });
  }
  expect((await assess("{}", [], "look")).error).toBe('no tool named "look"; there are no tools');
});

test("arguments that are no JSON object say what was found and what to do (PT-028)", async () => {
  expect((await assess('{"file_path":')).error).toBe(
    "the arguments of look are not JSON (Unexpected end of JSON input); send the call again with one JSON object",
  );
  for (const text of ["[1]", '"a"', "5", "null"]) {
    expect((await assess(text)).error).toBe(
      `the arguments of look must be a JSON object, got ${text}; send the call again with one JSON object`,
    );
  }
});

test("empty arguments count as an empty object", async () => {
  const free = look({ definition: { name: "look", description: "" } });
  for (const text of ["", "  ", "{}"]) expect((await assess(text, [free])).args).toEqual({});
  expect((await assess("")).error).toBe(
    "look was not run; correct its arguments and call it again\nfile_path: is required and missing",
  );
});

test("wrong arguments are told field by field, at the tool's own risk", async () => {
  expect(await assess('{"file_path":5,"limit":"12abc"}', [look({ risk: "read_only" })])).toMatchObject({
    error: [
      "look was not run; correct its arguments and call it again",
      "file_path: must be a string, got 5",
      'limit: must be an integer, got "12abc"',
    ].join("\n"),
    risk: "read_only",
  });
});

test("arguments nested too deeply are told to the model, at any depth; nothing is thrown", async () => {
  const tooDeep = "the arguments of look are nested too deeply; send the call again with flatter ones";
  const free = look({ definition: { name: "look", description: "" } });
  const strict = look({
    definition: {
      name: "look",
      description: "",
      parameters: { type: "object", additionalProperties: { type: "array", items: {} } },
    },
  });
  for (const depth of [2_500, 8_000, 100_000]) {
    for (const [open, inner, close] of [
      ["[", "", "]"],
      ['{"a":', "1", "}"],
    ] as const) {
      const args = `{"file_path":"a","x":${open.repeat(depth)}${inner}${close.repeat(depth)}}`;
      for (const tool of [look(), free, strict]) {
        const { error } = await assess(args, [tool]);
        if (error === undefined) expect(depth).toBe(2_500);
        else if (tool !== strict || !error.includes("must be")) expect(error).toBe(tooDeep);
      }
    }
  }
  expect((await assess(`${"[".repeat(100_000)}${"]".repeat(100_000)}`)).error).toBe(tooDeep);
});

test("traits are told the real paths that were found, so that risk and summary speak of the same file", async () => {
  const assessRisk = vi.fn(() => "read_only" as const);
  const paths = (): { read: string[] } => ({ read: ["x"] });
  await assess('{"file_path":"x"}', [look({ paths, assessRisk })]);
  const dir = await realpath(tmpdir());
  expect(assessRisk).toHaveBeenCalledWith(
    { file_path: "x" },
    { workspaceDir: tmpdir(), paths: { read: [join(dir, "x")] } },
  );
});

test("a path the system refuses is told in the words of the file tools, shortened", async () => {
  const directory = await realpath(await mkdtemp(join(tmpdir(), "rookery-assess-")));
  await symlink("loop", join(directory, "loop"));
  const tool = look({ paths: ({ file_path }) => ({ read: [String(file_path)] }) });
  const errorOf = async (file_path: string): Promise<unknown> =>
    (await assess(JSON.stringify({ file_path }), [tool])).error;
  expect(await errorOf(join(directory, "loop"))).toBe("look was not run: too many symbolic links encountered (ELOOP)");
  expect(await errorOf("x".repeat(5_000))).toBe("look was not run: name too long (ENAMETOOLONG)");
  const fail = (): never => {
    throw new Error("y".repeat(5_000));
  };
  expect((await assess('{"file_path":"a"}', [look({ paths: fail })])).error).toBe(
    `look was not run: ${"y".repeat(1_999)}…`,
  );
});

test("a key __proto__ is dropped at every depth and reaches no prototype", async () => {
  const tool = look({ prepareArguments: (args) => Object.assign({}, args) });
  const { args } = await assess('{"file_path":"a","__proto__":{"limit":1},"more":{"__proto__":{"x":1}}}', [tool]);
  expect(args).toEqual({ file_path: "a", more: {} });
  expect(args?.limit).toBeUndefined();
});

test("prepareArguments comes before conversion and validation, so it can repair what would fail (PI-003, PI-015, PI-016)", async () => {
  const order: string[] = [];
  const tool = look({
    prepareArguments: (raw) => {
      order.push("prepare");
      return { file_path: (raw as { path: string }).path, limit: "7" };
    },
    commandText: () => {
      order.push("traits");
      return "";
    },
  });
  expect(await assess('{"path":"a"}', [tool])).toMatchObject({ args: { file_path: "a", limit: 7 } });
  expect(order).toEqual(["prepare", "traits"]);
  const list = look({ prepareArguments: (raw) => ({ file_path: (raw as string[])[0] }) });
  expect((await assess('["a"]', [list])).args).toEqual({ file_path: "a" });
});

test("a trait that throws becomes an error; nothing is thrown", async () => {
  const fail = (): never => {
    throw new Error("boom");
  };
  for (const trait of ["assessRisk", "approvalSummary", "commandText", "paths", "assessState"]) {
    expect((await assess('{"file_path":"a"}', [look({ [trait]: fail })])).error).toBe("look was not run: boom");
  }
  expect((await assess("{}", [look({ prepareArguments: fail })])).error).toBe(
    "the arguments of look could not be prepared: boom",
  );
});
