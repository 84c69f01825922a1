import { userText } from "@rookery/core";
import { expect, test } from "vitest";
import { leftRunningLine, reportLine } from "./background-line.ts";

const report = (label: string): string =>
  `[background_task_done]\nkind: command\nid: proc-1\nstatus: failed\ndetail: exit code 2\n[/background_task_done]\n${label}\n[background_task_output]\nx\n[/background_task_output]`;

test("a report is one harmless line that fits", () => {
  expect(reportLine(userText(report("make all"), "harness"), 80)).toBe("● in the background: make all [exit code 2]");
  expect(reportLine(userText(report("a\x1b[2Jb"), "harness"), 80)).toContain("a␛[2Jb");
  expect(reportLine(userText(report("x".repeat(200)), "harness"), 40)).toHaveLength(40);
});

test("what a user says is no report, whatever it looks like", () => {
  expect(reportLine(userText(report("make all")), 80)).toBeUndefined();
  expect(reportLine(userText("[background_task_done]\nbroken", "harness"), 80)).toBeUndefined();
});

test("commands that still run are named by their first lines; those that have ended are not", () => {
  const command = (text: string, status: "running" | "ended" = "running") => ({
    id: "proc-1",
    command: text,
    startedAt: new Date(),
    status,
  });
  expect(leftRunningLine([command("true", "ended")])).toBeUndefined();
  expect(leftRunningLine([command("npm start\necho")])).toBe(
    "a command in the background is ended with the session: npm start",
  );
  expect(leftRunningLine([command("a"), command("b\x1b[2J"), command("c", "ended")])).toBe(
    "2 commands in the background are ended with the session: a; b␛[2J",
  );
  expect(leftRunningLine([command("x".repeat(1000))])).toHaveLength(300);
});
