import { expect, test } from "vitest";
import { proxyFor, proxySecrets } from "./proxy-for.ts";

const via = (url: string, env: NodeJS.ProcessEnv) => proxyFor(new URL(url), env);

test("https goes through HTTPS_PROXY and http through HTTP_PROXY, neither through the other's", () => {
  const env = { HTTPS_PROXY: "http://secure.test:3128", HTTP_PROXY: "http://plain.test:3128" };
  expect(via("https://api.test/", env)).toEqual({ variable: "HTTPS_PROXY", origin: "http://secure.test:3128" });
  expect(via("http://api.test/", env)).toEqual({ variable: "HTTP_PROXY", origin: "http://plain.test:3128" });
  expect(via("https://api.test/", { HTTP_PROXY: "http://plain.test:3128" })).toBeUndefined();
  expect(via("http://api.test/", { HTTPS_PROXY: "http://secure.test:3128" })).toBeUndefined();
});

test("a variable in lower case goes before the same in upper case, and an empty one counts for nothing", () => {
  const upper = { HTTPS_PROXY: "http://upper.test" };
  expect(via("https://api.test/", { ...upper, https_proxy: "http://lower.test" })?.variable).toBe("https_proxy");
  expect(via("https://api.test/", { ...upper, https_proxy: " " })?.variable).toBe("HTTPS_PROXY");
  expect(via("https://api.test/", { https_proxy: "" })).toBeUndefined();
  const both = { ...upper, NO_PROXY: "api.test", no_proxy: "other.test" };
  expect(via("https://api.test/", both)?.variable).toBe("HTTPS_PROXY");
});

test.each([
  "http://localhost:11434/v1",
  "http://ollama.localhost/",
  "http://127.0.0.1:8080/",
  "http://127.1/",
  "http://[::1]:1/",
  "http://[::ffff:127.0.0.1]:1/",
])("%s is this machine and is reached directly", (url) => {
  expect(via(url, { HTTP_PROXY: "http://proxy.test:3128" })).toBeUndefined();
});

test("what NO_PROXY names is reached directly", () => {
  const env = { HTTPS_PROXY: "http://proxy.test:3128", NO_PROXY: "corp.test" };
  expect(via("https://llm.corp.test/", env)).toBeUndefined();
  expect(via("https://api.test/", env)).toBeDefined();
});

test("an address without a scheme is that of an http proxy", () => {
  expect(via("https://api.test/", { HTTPS_PROXY: "proxy.test:3128" })?.origin).toBe("http://proxy.test:3128");
});

test.each([
  ["http://me:p%40ss%3A@proxy.test:3128", "me:p@ss:"],
  ["me:secret@proxy.test:3128", "me:secret"],
  ["http://me:100%@proxy.test", "me:100%"],
  ["http://me@proxy.test", "me:"],
])("user name and password of %s are a credential apart from the address", (value, pair) => {
  const proxy = via("https://api.test/", { HTTPS_PROXY: value });
  expect(proxy?.origin).toMatch(/^http:\/\/proxy\.test(:3128)?$/);
  expect(proxy?.authorization).toBe(`Basic ${Buffer.from(pair).toString("base64")}`);
});

test("the secrets of an environment are those of both its proxies, also of one that cannot be used", () => {
  expect(proxySecrets({})).toEqual([]);
  expect(proxySecrets({ HTTP_PROXY: "http://proxy.test", HTTPS_PROXY: "http://" })).toEqual([]);
  const secrets = proxySecrets({ HTTP_PROXY: "me:p%40ss@proxy.test", https_proxy: "socks5://you:secret@proxy.test" });
  expect(secrets).toEqual(expect.arrayContaining(["me:p@ss", "p@ss", btoa("me:p@ss"), "you:secret", "secret"]));
});

test.each([
  ["socks5://me:hunter22@proxy.test:1080", '"socks5://[redacted]@proxy.test:1080"'],
  ["me:hunter22@proxy.test:port", '"[redacted]@proxy.test:port"'],
  ["http://", '"http://"'],
  ["not an address", '"not an address"'],
])("%s is an error that names the variable and shows no password", (value, shown) => {
  expect(() => via("https://api.test/", { https_proxy: value })).toThrow(
    expect.objectContaining({
      code: "config-invalid",
      message: `https_proxy must be the address of an http or https proxy, got ${shown}`,
      hint: "write it like http://proxy.example:3128, unset it, or name the host in NO_PROXY",
    }),
  );
});

test("the wrong address of a proxy that is not needed is no error", () => {
  expect(via("http://127.0.0.1/", { HTTP_PROXY: "socks5://proxy.test" })).toBeUndefined();
  expect(via("http://api.test/", { HTTP_PROXY: "socks5://proxy.test", NO_PROXY: "*" })).toBeUndefined();
});
