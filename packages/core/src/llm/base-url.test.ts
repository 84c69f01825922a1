import { expect, test } from "vitest";
import { readBaseUrl } from "./base-url.ts";

test("an http(s) address is read, with path and query", () => {
  expect(readBaseUrl("https://x.test/v1?a=1").href).toBe("https://x.test/v1?a=1");
});

test.each(["http://user:passw0rd@x.test/v1", "http://passw0rd@x.test", "https://:passw0rd@x.test"])(
  "userinfo is refused, and the message does not hold it: %j",
  (baseUrl) => {
    expect(() => readBaseUrl(baseUrl, "base_url")).toThrow(
      expect.objectContaining({
        code: "config-invalid",
        message: "base_url must not hold a user name or password",
        hint: "set the key of the model, or an authorization header, in their place",
      }),
    );
  },
);

test("what is no http(s) address is told without its credentials", () => {
  expect(() => readBaseUrl("ftp://user:passw0rd@x.test/v1?key=QKEY12345")).toThrow(
    'the base URL must be an http or https address, got "ftp://[redacted]@x.test/v1?key=[redacted]"',
  );
});
