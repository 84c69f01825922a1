import fc from "fast-check";
import { expect, test } from "vitest";
import { createToolCallIdAllocator } from "./tool-call-ids.ts";

test("an id that comes again gains #2, #3 and so on, and loses it on the way out (PC-048, PC-049)", () => {
  const ids = createToolCallIdAllocator();
  const allocated = ["read_file", "read_file", "grep", "read_file"].map((id) => ids.allocate(id));
  expect(allocated).toEqual(["read_file", "read_file#2", "grep", "read_file#3"]);
  expect(allocated.map((id) => ids.toProvider(id))).toEqual(["read_file", "read_file", "grep", "read_file"]);
});

test("an id that the provider itself ended in #3 stays as it is", () => {
  const ids = createToolCallIdAllocator();
  expect(ids.allocate("call#3")).toBe("call#3");
  expect(ids.toProvider("call#3")).toBe("call#3");
  expect(ids.allocate("call#3")).toBe("call#3#2");
  expect(ids.toProvider("call#3#2")).toBe("call#3");
});

test("a missing id is replaced by a fresh one", () => {
  const ids = createToolCallIdAllocator();
  const [first, second] = [ids.allocate(""), ids.allocate("")];
  expect(first).toMatch(/^call_[0-9a-f]{24}$/);
  expect(second).not.toBe(first);
  expect(ids.toProvider(first)).toBe(first);
});

test("ids of the records so far are not given out again, and their suffixes still come off (PC-037, PC-050)", () => {
  const ids = createToolCallIdAllocator(["read_file#2", "read_file", "odd#2"]);
  expect(ids.allocate("read_file")).toBe("read_file#3");
  expect(ids.toProvider("read_file#2")).toBe("read_file");
  expect(ids.toProvider("odd#2")).toBe("odd#2");
});

test("whatever ids come, those given out are distinct and lead back to what came (PC-048, PC-049, PC-050)", () => {
  const id = fc.constantFrom("a", "a#2", "a#3", "a#2#2", "b", "b#2");
  fc.assert(
    fc.property(fc.array(id, { maxLength: 30 }), (incoming) => {
      const ids = createToolCallIdAllocator();
      const outgoing = incoming.map((one) => ids.allocate(one));
      expect(new Set(outgoing).size).toBe(outgoing.length);
      expect(outgoing.map((one) => ids.toProvider(one))).toEqual(incoming);
    }),
  );
});
