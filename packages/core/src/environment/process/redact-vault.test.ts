import fc from "fast-check";
import { expect, test } from "vitest";
import { redactVault, VaultRedactor } from "./redact-vault.ts";

const vault = { TOKEN: "s3cr3t-token", LONGER: "s3cr3t-token-and-more", SHORT: "1234567", PATTERN: "a.c*(x)[y]$" };

test("vault values of eight characters or more are replaced by their names", () => {
  expect(redactVault("a s3cr3t-token b a.c*(x)[y]$ c", vault)).toBe("a [vault:TOKEN] b [vault:PATTERN] c");
});

test("shorter values are left alone", () => {
  expect(redactVault("1234567", vault)).toBe("1234567");
});

test("the longest of the values that begin at one place is taken", () => {
  expect(redactVault("s3cr3t-token-and-more", vault)).toBe("[vault:LONGER]");
});

test("two names of one value: the first is shown", () => {
  expect(redactVault("password1", { A: "password1", B: "password1" })).toBe("[vault:A]");
});

test("a value that comes in two pieces is replaced, and text that can be none is not held back", () => {
  const redactor = new VaultRedactor(vault);
  expect(redactor.push("key: s3cr3")).toBe("key: ");
  expect(redactor.push("t-token.")).toBe("[vault:TOKEN].");
  expect(redactor.push("s3cr3")).toBe("");
  expect(redactor.push("tary")).toBe("s3cr3tary");
  expect(redactor.push("s3")).toBe("");
  expect(redactor.end()).toBe("s3");
});

test("an empty vault changes and holds back nothing", () => {
  const redactor = new VaultRedactor({});
  expect(redactor.push("s3cr3t-token")).toBe("s3cr3t-token");
  expect(redactor.end()).toBe("");
});

test("however text is cut, the result is that of the whole text, and no value is left in it", () => {
  const value = fc.string({ unit: fc.constantFrom("a", "b"), minLength: 8, maxLength: 12 });
  const piece = fc.oneof(fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: 14 }), value);
  fc.assert(
    fc.property(
      fc.array(value, { minLength: 1, maxLength: 3 }),
      fc.array(piece, { maxLength: 8 }),
      (values, pieces) => {
        const some = Object.fromEntries(values.map((each, index) => [`N${index}`, each]));
        const redactor = new VaultRedactor(some);
        const inPieces = pieces.map((each) => redactor.push(each)).join("") + redactor.end();
        expect(inPieces).toBe(redactVault(pieces.join(""), some));
        for (const each of values) expect(inPieces).not.toContain(each);
      },
    ),
  );
});
