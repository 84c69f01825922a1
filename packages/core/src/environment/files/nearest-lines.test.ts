import fc from "fast-check";
import { expect, test } from "vitest";
import { describeNearestLines } from "./nearest-lines.ts";

const describe = (content: string, wanted: string): string => describeNearestLines(Buffer.from(content), wanted);

test("a tab that was taken for spaces is named", () => {
  expect(describe("a {\n\tfoo();\n\tbar();\n}\n", "    foo();\n    bar();")).toBe(
    "nearest lines:\n     2\t\tfoo();\n     3\t\tbar();\n" +
      "first difference in line 2, column 1: the file has a tab (U+0009), old_string has a space (U+0020)",
  );
});

test("a curly quote is told from a straight one", () => {
  expect(describe('note\nname = "Ann"\n', "name = “Ann”")).toBe(
    'nearest lines:\n     2\tname = "Ann"\n' +
      'first difference in line 2, column 8: the file has " (U+0022), old_string has “ (U+201C)',
  );
});

test("an invisible character is named by its code", () => {
  expect(describe("a\u00a0= 1\n", "a = 1")).toContain("the file has U+00A0, old_string has a space (U+0020)");
});

test("a text that begins in the middle of a line is compared from there", () => {
  expect(describe("x = call(one,\n         two);\n", "call(one,\n    two);")).toContain(
    "first difference in line 2, column 5: the file has a space (U+0020), old_string has t (U+0074)",
  );
});

test("a text that goes on after the end of the file is told so", () => {
  expect(describe("only line", "only line\n")).toBe(
    "nearest lines:\n     1\tonly line\nfirst difference in line 2: the file ends before it, old_string goes on",
  );
});

test("with several candidates, the one with more equal lines around it is chosen", () => {
  expect(describe("a\nreturn x;\nb\nfoo()\nreturn x;\nbar()\n", "foo();\nreturn x;\nbar()")).toContain(
    "first difference in line 4, column 6: the file has the end of the line, old_string has ; (U+003B)",
  );
});

test("line endings alone are no difference unless the text names them", () => {
  expect(describe("one\r\ntwo\r\n", "one\ntwx")).toContain("line 2, column 3: the file has o (U+006F)");
  expect(describe("one\ntwo\n", "one\r\ntwo")).toContain(
    "line 1, column 4: the file has the end of the line, old_string has U+000D",
  );
});

test("a text that resembles nothing and an empty file are told apart", () => {
  expect(describe("abc\ndef\n", "0123456789")).toBe("no line of the file resembles it; read the file again");
  expect(describe("", "x")).toBe("the file is empty");
});

test("any content and any text are described", () => {
  const text = fc.string({ unit: fc.constantFrom("a", "b", " ", "\t", "\n", "\r\n", "😀", "\ud800"), maxLength: 30 });
  fc.assert(fc.property(text, text, (content, wanted) => void expect(describe(content, wanted)).not.toBe("")));
});

test("a text that fails only over bytes that are not UTF-8 is told so", () => {
  const content = Buffer.from("plain\ncaf\xe9 = 1\nna\xefve\n", "latin1");
  expect(describeNearestLines(content, "caf\ufffd = 1")).toBe(
    "nearest lines:\n     2\tcaf\ufffd = 1\nfirst difference in line 2: it holds bytes that are not UTF-8, " +
      "which no old_string can match; leave them out of it",
  );
  expect(describeNearestLines(content, "plain\ncaf\ufffd = 1\nna")).toContain(
    "first difference in line 2: it holds bytes",
  );
});
