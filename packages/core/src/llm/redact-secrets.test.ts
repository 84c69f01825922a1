import { expect, test } from "vitest";
import { redactSecrets } from "./redact-secrets.ts";

const SECRET = 'sk-/"é+=k\\ey';
const json = JSON.stringify(SECRET).slice(1, -1);
const inJson = JSON.stringify(json).slice(1, -1);

test.each([
  ["as it is", SECRET],
  ["in JSON", json],
  ["in JSON with its slashes escaped", json.replaceAll("/", "\\/")],
  ["in JSON inside JSON", inJson],
  ["in JSON without any sign", escaped(SECRET, /[^a-z]/g)],
  ["in JSON without any letter", escaped(SECRET, /./gs)],
  ["in JSON with digits in capitals", escaped(SECRET, /[^a-z]/g).replace(/(?<=\\u)..../g, (hex) => hex.toUpperCase())],
  ["in JSON with some signs escaped, some not", json.replace("+", "\\u002b")],
  ["in JSON inside JSON without its signs", escaped(SECRET, /[^a-z]/g).replaceAll("\\", "\\\\")],
  ["in an address", encodeURIComponent(SECRET)],
  ["in an address, in small digits", encodeURIComponent("sk-/+=key").toLowerCase(), "sk-/+=key"],
  ["in an address, with some signs as they are", "sk-%2F+%3dkey", "sk-/+=key"],
])("a secret is taken out %s", (_, written, secret = SECRET) => {
  expect(redactSecrets(`\\u003cb>${written}, %41 ${written}`, [secret])).toBe("\\u003cb>[redacted], %41 [redacted]");
});

test("of an address all that stands before its host is taken out, whatever the password holds", () => {
  expect(redactSecrets("at https://me:p@ss:word@host.example/a@b", [])).toBe("at https://[redacted]@host.example/a@b");
});

test("what only looks escaped stays, and so does everything around a secret", () => {
  const text = String.raw`100%, \u12, %zz, \\ud83d\ude42, \u0073k`;
  expect(redactSecrets(text, ["abcdef"])).toBe(text);
  expect(redactSecrets(`${text}abc\\u0064ef${text}`, ["abcdef"])).toBe(`${text}[redacted]${text}`);
});

test("of secrets that overlap the whole is taken out", () => {
  expect(redactSecrets("bob:pass\\u002bword", ["pass+word", "bob:pass+word", "ob:pass"])).toBe("[redacted]");
  expect(redactSecrets("abcd, abcdefgh, abcdabcd", ["abcd", "abcdefgh"])).toBe(
    "[redacted], [redacted], [redacted][redacted]",
  );
  expect(redactSecrets("x\\u0061bcdefghi", ["abcdef", "defghi"])).toBe("x[redacted]");
});

test("a long text full of escapes keeps all but the secret among them", () => {
  const text = "\\u0061%42".repeat(50_000);
  expect(redactSecrets(`${text}sk-\\u0031234`, ["sk-1234"])).toBe(`${text}[redacted]`);
});

function escaped(text: string, characters: RegExp): string {
  return text.replace(characters, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
