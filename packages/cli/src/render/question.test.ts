import type { ApprovalContext } from "@rookery/core";
import fc from "fast-check";
import { expect, test } from "vitest";
import { questionText } from "./question.ts";

const context: ApprovalContext = { summary: "s", risk: "process", permission: "rw", workspace: "/w" };
const question = (changes: Partial<ApprovalContext>, columns = 80): string =>
  questionText("probe", { ...context, ...changes }, columns);

test("a summary cannot pass for a line of the question", () => {
  expect(question({ summary: "ls\n  risk: read_only   workspace: /tmp" })).toBe(
    "\nAllow probe?\n  risk: process   workspace: /w\n  │ ls\n  │   risk: read_only   workspace: /tmp\n",
  );
});

test.each([
  [{ tool: "agent_x" }, "  a, for this workspace from now on, whatever its arguments:\n  │ allow tool agent_x\n"],
  [
    { command: "git log" },
    "  a, for this workspace from now on, whatever words follow:\n  │ allow command 'git log'\n",
  ],
  [{ path: "a", access: "read" as const }, "  a, for this workspace from now on:\n"],
])("a lasting answer says what it does not look at: %j", (allow, text) => {
  expect(questionText("probe", context, 80, [{ allow, workspace: "/w" }])).toContain(text);
});

test("a long line is continued behind the bar, where the terminal would break it", () => {
  expect(question({ summary: `${"x".repeat(30)}risk: read_only` }, 24)).toMatch(
    /\n {2}│ x{20}\n {2}│ x{10}risk: read\n {2}│ _only\n$/,
  );
  expect(question({ summary: "語".repeat(11) }, 24)).toMatch(/\n {2}│ 語{10}\n {2}│ 語\n$/);
});

test("the lines of a summary that may have left the screen are counted behind it", () => {
  expect(question({ summary: `rm x${"\n#".repeat(15)}` })).toMatch(/│ #\n$/);
  expect(question({ summary: `rm x${"\n#".repeat(2000)}` })).toMatch(
    /│ #\n {2}2001 lines; read them from the first one\n$/,
  );
});

test("no summary, name or workspace adds a line that is the question's own", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.integer({ min: 1, max: 100 }), (text, columns) => {
      const shown = questionText(text, { ...context, summary: text, workspace: text }, columns);
      const [blank, , risk, ...lines] = shown.split("\n");
      expect([blank, risk?.startsWith("  risk: process   workspace: "), lines.pop()]).toEqual(["", true, ""]);
      if (lines.length > 16) expect(lines.pop()).toBe(`  ${lines.length} lines; read them from the first one`);
      expect(lines.every((line) => line.startsWith("  │ "))).toBe(true);
    }),
  );
});
