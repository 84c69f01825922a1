import type { ToolDefinition } from "@rookery/core";
import { expect, test } from "vitest";
import { shortened, streamedHeading, toolHeading } from "./heading.ts";

const definition: ToolDefinition = {
  name: "anything",
  description: "",
  parameters: {
    type: "object",
    properties: { count: { type: "number" }, target: { type: "string" }, description: { type: "string" } },
  },
};
const heading = (args: string, tool: ToolDefinition | undefined = definition, columns = 80): string =>
  toolHeading({ name: "anything", arguments: args }, tool, columns);

test("a call is headed by its description and its first other string, where the schema has a description", () => {
  expect(heading('{"target":"a.txt","description":"read it"}')).toBe("● anything  read it  a.txt");
  expect(heading('{"description":"read it"}')).toBe("● anything  read it");
});

test("a description does not push what runs off the line, and cannot pass for it", () => {
  const description = "harmless  ls ".repeat(50);
  expect(heading(JSON.stringify({ description, target: "rm -rf ~" }), definition, 40)).toBe(
    "● anything  harmless ls harml…  rm -rf ~",
  );
  expect(heading(JSON.stringify({ description, target: "x".repeat(99) }), definition, 40)).toBe(
    "● anything  harmless ls …  xxxxxxxxxxxx…",
  );
});

test("without a description it is headed by the first string of its schema, else of its arguments", () => {
  expect(heading('{"other":"x","count":3,"target":"a.txt"}')).toBe("● anything  a.txt");
  expect(heading('{"n":1,"other":"x"}')).toBe("● anything  x");
  expect(toolHeading({ name: "gone", arguments: '{"other":"x"}' }, undefined, 80)).toBe("● gone  x");
});

test("a call of a tool whose schema is not known shows what runs beside its description", () => {
  const args = '{"description":"harmless","cmd":"rm -rf ~"}';
  expect(toolHeading({ name: "run", arguments: args }, undefined, 80)).toBe("● run  harmless  rm -rf ~");
});

test.each(["", "{", "[]", "null", "3", "{}", '{"target":"  "}', '{"__proto__":"x"}'])(
  "arguments without a usable string leave the name: %s",
  (args) => {
    expect(heading(args)).toMatch(/^● anything( {2}x)?$/);
  },
);

test("a heading is one line without control characters, cut to the terminal", () => {
  expect(heading('{"target":"a\\n  b\\u001b[2J"}')).toBe("● anything  a b␛[2J");
  expect(heading(JSON.stringify({ target: "y".repeat(100) }), definition, 20)).toBe("● anything  yyyyyyy…");
});

test("a cut does not split a character", () => {
  expect(shortened("😀😀😀", 3)).toBe("😀😀😀");
  expect(shortened("😀😀😀😀", 3)).toBe("😀😀…");
});

const described = { name: "run", description: "", parameters: { properties: { description: {}, cmd: {} } } };

test.each([
  ["", "● run"],
  ['{"descr', "● run"],
  ['{"description": "Builds th', "● run  Builds th"],
  ['{"description":"a\\nb\\', "● run  a b"],
  ['{"description":"\\u00e9\\u00', "● run  é"],
  ['{"description":"Builds it.","cmd":"make', "● run  Builds it."],
  ['{"description":"\\u001b[2J\\x', "● run  ␛[2J"],
  ['{"cmd":"make","description":"late', "● run"],
])("while the arguments %j arrive, the schema says that a description will come (PT-087)", (soFar, heading) => {
  expect(streamedHeading("run", soFar, described, 40)).toBe(heading);
});

test("of a tool whose schema has no description the name is shown until the arguments are complete (PT-087)", () => {
  const plain = { name: "read", description: "", parameters: { properties: { path: {} } } };
  expect(streamedHeading("read", '{"description":"no","path":"a"', plain, 40)).toBe("● read");
  expect(streamedHeading("gone", '{"description":"no"', undefined, 40)).toBe("● gone");
});
