import { expect, test } from "vitest";
import { reportMessage } from "../../engine/background-report.ts";
import { modelMessage, userText } from "../../omnimessage/build.ts";
import type { OmniMessage } from "../../omnimessage/message.ts";
import { LostCommands } from "./lost-commands.ts";

const id = "proc-1a2b3c4d";
const running = { command: "sleep 9", cwd: "/w", process_id: id };
const ended = { ...running, exitCode: null, signal: "SIGTERM", durationMs: 1 };

function output(details: unknown): OmniMessage {
  return modelMessage({ type: "tool_call_output", role: "user", output: "", tool_call_id: "c", details });
}

function lost(...messages: readonly OmniMessage[]): string[] {
  const commands = new LostCommands();
  for (const message of messages) commands.add(message);
  return commands.reports.map((report) => report.id);
}

test("a command is lost whose id was given and whose end neither an output nor a report told", () => {
  expect(lost(output(running))).toEqual([id]);
  expect(lost(output(running), output(running))).toEqual([id]);
  expect(lost(output(running), output(ended))).toEqual([]);
  const told = reportMessage({
    kind: "command",
    id,
    title: "sleep 9",
    status: "completed",
    detail: "",
    output: "",
    unreadChars: 0,
  });
  expect(lost(output(running), told)).toEqual([]);
  // Reading on behind the report tells of the end again.
  expect(lost(output(running), told, output(ended))).toEqual([]);
  expect(lost(output(running), userText((told.payload as { text: string }).text))).toEqual([id]);
});

test.each([
  ["another tool's id", { process_id: "17", command: "x" }],
  ["no command", { process_id: id }],
  ["an id that is no text", { process_id: { id }, command: "x" }],
  ["nothing", null],
  ["a list", [id]],
  ["text", "proc-1a2b3c4d"],
])("%s in the details of an output is no command", (_, details) => {
  expect(lost(output(details))).toEqual([]);
});
