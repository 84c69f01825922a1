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

test.each([
  ["ls /my\\ dir/a", "ls /new/a"],
  ["cat '/my dir/a' file:///my%20dir/b", "cat '/new/a' file:///new/b"],
  ["gcc -I/my\\ dir/x -L'/my dir'", "gcc -I/new/x -L'/new'"],
  ["cd /my\\ dir//./", "cd /new//./"],
])("a workspace with a blank is found in the command %s", (cmd, expected) => {
  expect(JSON.parse(argumentsAfter(JSON.stringify({ cmd }), "/my dir", "/new"))).toEqual({ cmd: expected });
});

test.each([
  `ls ~/app /x/app ../app $HOME/app $\{PWD%/*}/app $(pwd)/app "$HOME"/app '$\{A}'/app`,
  "curl localhost:3000/app http://host/app host/#/app sed 's/\\/app/x/'",
  "cat /appé /app-2 /app_2 /app.bak /app@2 /app\\ 2 /app%20b",
])("what only ends or begins like a short workspace stays: %s", (cmd) => {
  expect(argumentsAfter(JSON.stringify({ cmd }), "/app", "/new")).toBe(JSON.stringify({ cmd }));
});

test("a path of one name stays in what a file holds, and nowhere else", () => {
  const edit = JSON.stringify({ file_path: "/app/r.js", old_string: 'get("/app"', new_string: 'get("/app/v2"' });
  const name = "edit_file";
  expect(argumentsAfter(edit, "/app", "/new", name)).toBe(edit.replace("/app/r.js", "/new/r.js"));
  const write = '{"file_path":"/old/app/run.sh","content":"cd /old/app"}';
  expect(argumentsAfter(write, "/old/app", "/new", "write_file")).toBe(
    '{"file_path":"/new/run.sh","content":"cd /new"}',
  );
});

test("a new path that a shell would take apart replaces whole paths, and stands in no command", () => {
  const moved = (args: object, name?: string): unknown =>
    JSON.parse(argumentsAfter(JSON.stringify(args), "/old/app", "/new place", name));
  expect(moved({ file_path: "/old/app/a", note: "see /old/app" })).toEqual({
    file_path: "/new place/a",
    note: "see /old/app",
  });
  expect(moved({ cmd: "/old/app/a", workdir: "/old/app" }, "exec_command")).toEqual({
    cmd: "/old/app/a",
    workdir: "/new place",
  });
});

test("each name of the workspace is replaced once, also where the new one lies inside it", () => {
  const json = '{"cmd":"ls /link/a /real/dir/a"}';
  expect(argumentsAfter(json, ["/link", "/real/dir"], "/link/x")).toBe('{"cmd":"ls /link/x/a /link/x/a"}');
  expect(argumentsAfter(json, ["/link", "/real/dir"], "/real/dir")).toBe(json);
});

test("a recorded decision's arguments are relocated too, and a root replaces nothing", () => {
  const decision = eventMessage({
    type: "approval_decision",
    tool_call_id: "c",
    decision: "allow",
    arguments: '["/old"]',
  });
  expect(relocated([decision], { from: ["/old"], to: "/new" })[0]?.payload).toMatchObject({ arguments: '["/new"]' });
  expect(argumentsAfter('{"path":"/etc/x"}', "/", "/new")).toBe('{"path":"/etc/x"}');
});

function argumentsAfter(json: string, from: string | readonly string[], to: string, name = "probe"): string {
  const call = { type: "tool_call", role: "assistant", name, arguments: json, tool_call_id: "c" } as const;
  const [moved] = relocated([modelMessage(call) as OmniMessage], { from: [from].flat(), to });
  return String(moved && "arguments" in moved.payload ? moved.payload.arguments : undefined);
}
