import { expect, test, vi } from "vitest";
import type { SourceReport, ToolSource } from "./contract.ts";
import type { BuiltinTool } from "./tool.ts";
import { ToolCatalogue } from "./tool-catalogue.ts";

function tool(name: string): BuiltinTool {
  return { name, definition: { name, description: "" }, async *execute() {} };
}

/** A source whose list can be changed while it is in use. */
class FakeSource implements ToolSource {
  readonly id: string;
  names: string[];
  changed: () => void = () => {};
  dispose: () => void = () => {};

  constructor(id: string, ...names: string[]) {
    this.id = id;
    this.names = names;
  }

  async tools(): Promise<BuiltinTool[]> {
    return this.names.map(tool);
  }

  onChange(listener: () => void): void {
    this.changed = listener;
  }
}

class ConnectedSource extends FakeSource {
  readonly connect: (signal: AbortSignal) => Promise<SourceReport> = vi.fn(async (signal) => ({
    server: this.id,
    transport: "stdio",
    status: signal.aborted ? ("aborted" as const) : ("completed" as const),
    duration_ms: 1,
  }));
}

async function names(catalogue: ToolCatalogue): Promise<string[]> {
  return [...(await catalogue.current()).keys()];
}

test("fixed groups come first, then the sources, each in its order", async () => {
  const groups = [
    { origin: "a", tools: [tool("one"), tool("two")] },
    { origin: "b", tools: [tool("three")] },
  ];
  const catalogue = new ToolCatalogue(groups, [new FakeSource("s", "four"), new FakeSource("t", "five")], () => {});
  expect([...catalogue.known.keys()]).toEqual(["one", "two", "three"]);
  expect(await names(catalogue)).toEqual(["one", "two", "three", "four", "five"]);
  expect([...catalogue.known.keys()]).toHaveLength(5);
});

test("a name that is there twice is rejected, with both places (PE-053)", async () => {
  const a = { origin: "tools", tools: [tool("one")] };
  expect(() => new ToolCatalogue([a, { origin: "customTools", tools: [tool("one")] }], [], () => {})).toThrow(
    expect.objectContaining({
      code: "tool-duplicate",
      message: 'two tools are named "one", in tools and in customTools',
      hint: "rename or remove one of them",
    }),
  );
  await expect(new ToolCatalogue([a], [new FakeSource("server", "one")], () => {}).current()).rejects.toMatchObject({
    code: "tool-duplicate",
    message: 'two tools are named "one", in tools and in server',
  });
  await expect(new ToolCatalogue([], [new FakeSource("server", "x", "x")], () => {}).current()).rejects.toMatchObject({
    message: 'two tools are named "x", in server',
  });
});

test("a source is asked again only after it told of a change", async () => {
  const source = new FakeSource("s", "one");
  const asked = vi.spyOn(source, "tools");
  const catalogue = new ToolCatalogue([], [source], () => {});
  await catalogue.current();
  source.names = ["two"];
  expect(await names(catalogue)).toEqual(["one"]);
  source.changed();
  expect(await names(catalogue)).toEqual(["two"]);
  expect(asked).toHaveBeenCalledTimes(2);
});

test("a list that was asked for before a change does not replace the one from after it", async () => {
  const source = new FakeSource("s", "old");
  const catalogue = new ToolCatalogue([], [source], () => {});
  let answer = (): void => {};
  const asked = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const old = source.tools();
  vi.spyOn(source, "tools").mockImplementationOnce(async () => {
    await asked;
    return old;
  });
  const before = catalogue.current();
  source.names = ["new"];
  source.changed();
  expect(await names(catalogue)).toEqual(["new"]);
  answer();
  await before;
  expect([...catalogue.known.keys()]).toEqual(["new"]);
});

test("sources are connected once, before they are asked", async () => {
  const source = new ConnectedSource("s", "one");
  const catalogue = new ToolCatalogue([], [source, new FakeSource("plain")], () => {});
  expect(catalogue.unconnected).toEqual(["s"]);
  const [first, second] = await Promise.all([
    catalogue.connect(new AbortController().signal),
    catalogue.connect(new AbortController().signal),
  ]);
  expect(first).toEqual([{ server: "s", transport: "stdio", status: "completed", duration_ms: 1 }]);
  expect(second).toEqual(first);
  expect(catalogue.unconnected).toEqual([]);
  expect(await catalogue.connect(new AbortController().signal)).toEqual([]);
  expect(await names(catalogue)).toEqual(["one"]);
  expect(source.connect).toHaveBeenCalledOnce();
});

test("a list that is asked for unconnected connects first", async () => {
  const source = new ConnectedSource("s", "one");
  expect(await names(new ToolCatalogue([], [source], () => {}))).toEqual(["one"]);
  expect(source.connect).toHaveBeenCalledOnce();
});

test("a source whose connecting was aborted stays unconnected", async () => {
  const catalogue = new ToolCatalogue([], [new ConnectedSource("s", "one")], () => {});
  expect(await catalogue.connect(AbortSignal.abort())).toMatchObject([{ status: "aborted" }]);
  expect(catalogue.unconnected).toEqual(["s"]);
});

test("a source that fails is reported and costs only its own tools", async () => {
  const warnings: unknown[] = [];
  const broken: ToolSource = {
    id: "broken",
    connect: async () => {
      throw new Error("no such program");
    },
    tools: async () => {
      throw new Error("not connected");
    },
    dispose() {},
  };
  const catalogue = new ToolCatalogue([], [broken, new FakeSource("s", "one")], (warning) => warnings.push(warning));
  expect(await catalogue.connect(new AbortController().signal)).toMatchObject([
    { server: "broken", transport: "unknown", status: "failed", error: "no such program" },
  ]);
  expect(await names(catalogue)).toEqual(["one"]);
  expect(warnings).toEqual([
    { code: "tool-source-failed", message: "the tool source broken gives no tools: not connected" },
  ]);
});

test("permission r of a riskier tool has no effect and gives one warning", async () => {
  const warnings: unknown[] = [];
  const source: ToolSource = {
    id: "s",
    tools: async () => [{ ...tool("one"), definition: { name: "one", description: "", permission: "r" } }],
    dispose() {},
  };
  const catalogue = new ToolCatalogue([], [source], (warning) => warnings.push(warning));
  await catalogue.current();
  await catalogue.connect(new AbortController().signal);
  expect((await catalogue.current()).get("one")?.permission).toBe("rw");
  expect(warnings).toEqual([
    { code: "permission-ignored", message: "permission r of the tool one has no effect: its risk is process" },
  ]);
});
