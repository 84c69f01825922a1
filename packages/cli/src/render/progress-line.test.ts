import { eventMessage, type OmniMessage, userText } from "@rookery/core";
import { expect, test } from "vitest";
import { canErase, ProgressLine } from "./progress-line.ts";

const progress = (text?: string): OmniMessage =>
  eventMessage({ type: "tool_progress", tool_call_id: "1", ...(text !== undefined && { text }) });

const erased = (columns: number): string => `\r${" ".repeat(columns - 1)}\r`;

test("the last line is shown, takes the place of the one before, and is taken away", () => {
  const line = new ProgressLine(() => 40);
  expect(line.show(progress("one\nstep 1\n"))).toBe("  step 1");
  expect(line.show(progress("step 2"))).toBe(`${erased(40)}  step 2`);
  expect(line.erase()).toBe(erased(40));
  expect(line.erase()).toBe("");
});

test("a line too long for the terminal is cut, and none of its control characters reaches it", () => {
  const line = new ProgressLine(() => 13);
  expect(line.show(progress("0123456789abc"))).toBe("  012345678…");
  expect(line.show(progress("\x1b[2J\ta"))).toBe(`${erased(13)}  ␛[2J a`);
});

test("what holds no text shows nothing and takes nothing away", () => {
  const line = new ProgressLine(() => 40);
  line.show(progress("step"));
  expect([progress(), progress(""), progress("\n"), userText("hi")].map((message) => line.show(message))).toEqual(
    Array(4).fill(""),
  );
  expect(line.erase()).toBe(erased(40));
});

test("a line is written over only at a terminal that can take one back", () => {
  expect(canErase({ isTTY: true }, { TERM: "xterm" })).toBe(true);
  expect([canErase({ isTTY: true }, { TERM: "dumb" }), canErase({}, {}), canErase({ isTTY: false }, {})]).toEqual(
    Array(3).fill(false),
  );
});
