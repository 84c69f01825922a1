import { type ApprovalContext, type ApprovalRule, ruleText } from "@rookery/core";
import { exposed, oneLine } from "./neutralise.ts";

/**
 * What a person decides on: the call, its risk and the workspace, then the summary. Every line of the summary stands
 * behind a bar, also where it is longer than the terminal is wide, so that none can pass for a line of the question; of a
 * long one they are counted behind it, where its beginning may have left the screen. What a lasting answer would store
 * follows in the same way.
 */
export function questionText(
  name: string,
  { summary, risk, workspace }: ApprovalContext,
  columns: number,
  lasting: readonly ApprovalRule[] = [],
): string {
  const head = `Allow ${exposed(oneLine(name))}?\n  risk: ${risk}   workspace: ${exposed(oneLine(workspace))}`;
  const rules = lasting.map(({ workspace: _, ...rule }) => ruleText(rule)).join("\n");
  const more = lasting.map(({ allow }) => MORE.find(([target]) => allow?.[target] !== undefined)?.[1] ?? "")[0] ?? "";
  const always = rules === "" ? "" : `  a, for this workspace from now on${more}:\n${barred(rules, columns)}`;
  const shown = barred(summary, columns);
  const lines = shown.split("\n").length - 1;
  const count = lines > MAX_UNCOUNTED_LINES ? `  ${lines} lines; read them from the first one\n` : "";
  return `\n${head}\n${shown}${count}${always}`;
}

/** What such a rule does not look at. */
const MORE = [
  ["command", ", whatever words follow"],
  ["tool", ", whatever its arguments"],
] as const;

/** What every terminal shows at once. */
const MAX_UNCOUNTED_LINES = 16;
const BAR = "  │ ";

function barred(text: string, columns: number): string {
  return exposed(text)
    .split("\n")
    .flatMap((line) => wrapped(line, Math.max(1, columns - BAR.length)))
    .map((line) => `${BAR}${line}\n`)
    .join("");
}

function wrapped(line: string, maxCells: number): string[] {
  const lines: string[] = [];
  let current = "";
  let cells = 0;
  for (const character of line) {
    const width = cellsOf(character);
    if (cells + width > maxCells) {
      lines.push(current);
      current = "";
      cells = 0;
    }
    current += character;
    cells += width;
  }
  return [...lines, current];
}

/** The most that a terminal gives a character: a tab goes to the next stop, and signs outside of ASCII may be wide. */
function cellsOf(character: string): number {
  return character === "\t" ? 8 : character > "~" ? 2 : 1;
}
