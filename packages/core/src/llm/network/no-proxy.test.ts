import { expect, test } from "vitest";
import { isExempt } from "./no-proxy.ts";

const exempt = (url: string, noProxy: string): boolean => isExempt(new URL(url), noProxy);

test.each([
  ["https://example.com/", "example.com"],
  ["https://api.example.com/", "example.com"],
  ["https://api.example.com/", ".example.com"],
  ["https://example.com/", ".example.com"],
  ["https://api.example.com/", "*.example.com"],
  ["https://EXAMPLE.com/", "Example.COM"],
  ["https://example.com./", "example.com."],
  ["https://example.com/", "a.test,example.com"],
  ["https://example.com/", "  a.test \t example.com "],
  ["https://bücher.test/", "bücher.test"],
  ["https://neue.bücher.test/", "*.BÜCHER.test"],
  ["https://bücher.test/", "xn--bcher-kva.test"],
  ["https://a_b.test/", "a_b.test"],
  ["https://anything.test/", "*"],
  ["https://anything.test/", "a.test, *"],
  ["https://example.com/", "example.com:443"],
  ["http://example.com/", "example.com:80"],
  ["http://example.com:8080/", "example.com:8080"],
  ["http://10.1.2.3/", "10.1.2.3"],
  ["http://10.1.2.3:8080/", "10.1.2.3:8080"],
  ["http://10.1.2.3/", "10.0.0.0/8"],
  ["http://10.1.2.3/", "0.0.0.0/0"],
  ["http://[fd00::1]/", "fd00::1"],
  ["http://[fd00::1]/", "[fd00:0:0::1]"],
  ["http://[fd00::1]:8080/", "[fd00::1]:8080"],
  ["http://[fd00::1]/", "fd00::/8"],
])("%s is exempt by %j", (url, noProxy) => {
  expect(exempt(url, noProxy)).toBe(true);
});

test.each([
  ["https://example.com/", ""],
  ["https://example.com/", " , ,"],
  ["https://notexample.com/", "example.com"],
  ["https://example.com.evil.test/", "example.com"],
  ["https://example.com/", "api.example.com"],
  ["https://example.com/", "."],
  ["https://example.com/", "exa<mple.com"],
  ["https://example.com/", "example.com:80"],
  ["http://example.com:8080/", "example.com:808"],
  ["http://10.1.2.3/", "10.1.2.4"],
  ["http://10.1.2.3/", "2.3"],
  ["http://11.1.2.3/", "10.0.0.0/8"],
  ["http://10.1.2.3/", "10.0.0.0/33"],
  ["http://10.1.2.3/", "10.0.0.0/-1"],
  ["http://10.1.2.3/", "10.0.0.0/x"],
  ["http://[fd00::1]/", "fd00::2"],
  ["http://[fd00::1]/", "[fd00::1]:8080"],
  ["http://[fe80::1]/", "fd00::/8"],
  ["http://10.1.2.3/", "fd00::/8"],
])("%s is not exempt by %j", (url, noProxy) => {
  expect(exempt(url, noProxy)).toBe(false);
});
