import { expect, test } from "vitest";
import { piecesText } from "../output-piece.ts";
import { UnreadText } from "./unread-text.ts";

const LIMIT = 1024 * 1024;

test("text is read once, in order", () => {
  const unread = new UnreadText();
  unread.push("a");
  unread.push("");
  unread.push("b");
  expect(unread.length).toBe(2);
  expect(textOf(unread)).toBe("ab");
  expect([textOf(unread), unread.length]).toEqual(["", 0]);
});

test("of more than a mebi of characters the newest are kept, and what was dropped is counted once (PT-045)", () => {
  const unread = new UnreadText();
  for (let i = 0; i < 300_000; i++) unread.push(`${String(i).padStart(9, "0")}\n`);
  const [marker, rest] = [textOf(unread), textOf(unread)];
  const text = marker.slice(marker.indexOf("\n") + 1);
  expect(marker).toMatch(new RegExp(`^\\[..., ${3_000_000 - LIMIT} chars of earlier output dropped ...\\]\n`));
  expect([text.length, text.slice(-10), rest]).toEqual([LIMIT, "000299999\n", ""]);
});

test("bytes count like text, and of too many the oldest are dropped", () => {
  const unread = new UnreadText();
  unread.push("é");
  for (let i = 0; i < 20; i++) unread.push(Buffer.alloc(64 * 1024, 65 + i));
  unread.push("end");
  const dropped = 20 * 64 * 1024 + 4 - LIMIT;
  const [marker, ...pieces] = unread.take();
  const text = piecesText(pieces);
  expect(marker).toBe(`[..., ${dropped} chars of earlier output dropped ...]\n`);
  expect([text.length, text.indexOf("F"), text[0], text.slice(-4)]).toEqual([LIMIT, 64 * 1024 - 3, "E", "Tend"]);
  expect(pieces.filter((piece) => typeof piece !== "string")).toHaveLength(16);
});

test("one piece that is too long by itself loses its beginning, and no character is cut in two", () => {
  const unread = new UnreadText();
  unread.push("x");
  unread.push("🦔".repeat(LIMIT));
  unread.push("end");
  const text = textOf(unread);
  expect(text).toMatch(/^\[\.\.\., 1048581 chars of earlier output dropped \.\.\.\]\n🦔/);
  expect(text.endsWith("🦔end")).toBe(true);
  expect(Buffer.from(text).toString()).toBe(text);
});

function textOf(unread: UnreadText): string {
  return piecesText(unread.take());
}
