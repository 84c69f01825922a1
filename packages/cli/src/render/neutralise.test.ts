import fc from "fast-check";
import { expect, test } from "vitest";
import { exposed, neutralise, oneLine } from "./neutralise.ts";

test("escape sequences, control characters and marks of direction become visible", () => {
  expect(neutralise("a\x1b[2Jb")).toBe("a␛[2Jb");
  expect(neutralise("\x1b]52;c;cHduZWQ=\x07")).toBe("␛]52;c;cHduZWQ=␇");
  expect(neutralise("\x9b2J\x90")).toBe("⟨U+009B⟩2J⟨U+0090⟩");
  expect(neutralise("\x7f\0")).toBe("␡␀");
  expect(neutralise("a\u202eb\u2066c")).toBe("a⟨U+202E⟩b⟨U+2066⟩c");
});

test("ordinary text stays as it is, and CRLF ends a line", () => {
  const text = "Grüße\t日本語 👩‍👩‍👧\n";
  expect(neutralise(text)).toBe(text);
  expect(neutralise("a\r\nb")).toBe("a\nb");
  expect(neutralise("10%\r20%")).toBe("10%␍20%");
});

test("no text gets a control character through", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      for (const shown of [neutralise(text), oneLine(text), exposed(text)]) {
        expect(shown).not.toMatch(/[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/);
      }
      expect(oneLine(text)).not.toMatch(/[\n\t]/);
    }),
  );
});

test("what somebody decides on shows its invisible characters, and padding cannot push it out of sight", () => {
  expect(exposed("rm\u200b -rf\ufeff\u00ad")).toBe("rm⟨U+200B⟩ -rf⟨U+FEFF⟩⟨U+00AD⟩");
  expect(exposed(`ls${" ".repeat(500)}; rm -rf ~`)).toBe("ls⟨500 blanks⟩; rm -rf ~");
  expect(exposed(`ls${"\n".repeat(80)}rm`)).toBe("ls\n⟨79 empty lines⟩\nrm");
  expect(exposed(`rm${" \n\t".repeat(80)}ls`)).toBe("rm \n⟨79 empty lines⟩\n\tls");
  expect(exposed("if x:\n    y\n\n    z")).toBe("if x:\n    y\n\n    z");
});
