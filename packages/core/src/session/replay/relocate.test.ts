import { expect, test } from "vitest";
import { eventMessage, modelMessage } from "../../omnimessage/build.ts";
import type { OmniMessage } from "../../omnimessage/message.ts";
import { relocated } from "./relocate.ts";

test.each([
  ['{"path":"/old/app/a.js"}', '{"path":"/new/a.js"}'],
  ['{"path":"/old/app"}', '{"path":"/new"}'],
  [
    '{"cmd":"ls\\n/old/app/a; cat --in=/old/app/b file:///old/app"}',
    '{"cmd":"ls\\n/new/a; cat --in=/new/b file:///new"}',
  ],
  ['{"deep":[{"path":"/old\\u002fapp/x"}],"n":1}', '{"deep":[{"path":"/new/x"}],"n":1}'],
])("the workspace's path in %s is replaced", (json, expected) => {
  expect(argumentsAfter(json, "/old/app", "/new")).toBe(expected);
});

test.each([
  '{ "path" : "/old/apple" }',
  '{"path":"/very/old/app"}',
  '{"path":"/old/app.bak"}',
  '{"cut":"/old/app',
  "[1e400]",
])("%s stays byte for byte", (json) => {
  expect(argumentsAfter(json, "/old/app", "/new")).toBe(json);
});

test("signs of a pattern in a path are signs, on both sides", () => {
  expect(argumentsAfter('{"p":"/a+b (1)/x"}', "/a+b (1)", "/$&")).toBe('{"p":"/$&/x"}');
});

test("a recorded decision's arguments are relocated too, and a root replaces nothing", () => {
  const decision = eventMessage({
    type: "approval_decision",
    tool_call_id: "c",
    decision: "allow",
    arguments: '["/old"]',
  });
  expect(relocated([decision], "/old", "/new")[0]?.payload).toMatchObject({ arguments: '["/new"]' });
  expect(argumentsAfter('{"path":"/etc/x"}', "/", "/new")).toBe('{"path":"/etc/x"}');
});

function argumentsAfter(json: string, from: string, to: string): unknown {
  const call = { type: "tool_call", role: "assistant", name: "probe", arguments: json, tool_call_id: "c" } as const;
  const [moved] = relocated([modelMessage(call) as OmniMessage], from, to);
  return moved && "arguments" in moved.payload ? moved.payload.arguments : undefined;
}
