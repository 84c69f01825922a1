import fc from "fast-check";
import { expect, test } from "vitest";
import { isPublicAddress } from "./public-address.ts";

test.each([
  "8.8.8.8",
  "1.1.1.1",
  "172.15.255.255",
  "172.32.0.0",
  "100.63.255.255",
  "223.255.255.255",
  "2606:4700:4700::1111",
  "::ffff:8.8.8.8",
  "64:ff9b::8.8.8.8",
])("%s is public", (address) => {
  expect(isPublicAddress(address)).toBe(true);
});

test.each([
  "0.0.0.0",
  "10.0.0.1",
  "100.64.0.1",
  "100.100.100.200",
  "127.0.0.1",
  "127.255.255.254",
  "168.63.129.16",
  "169.254.169.254",
  "172.16.0.1",
  "172.31.255.255",
  "192.0.0.192",
  "192.168.1.1",
  "198.18.0.1",
  "224.0.0.1",
  "255.255.255.255",
  "::",
  "::1",
  "::127.0.0.1",
  "fe80::1",
  "fe80::1%eth0",
  "fc00::1",
  "fd00:ec2::254",
  "fec0::1",
  "ff02::1",
  "2001:db8::1",
  "2001::1",
  "2002:7f00:1::",
  "2002:808:808::",
  "64:ff9b::127.0.0.1",
  "64:ff9b:1::8.8.8.8",
  "::ffff:0:127.0.0.1",
  "localhost",
  "2130706433",
  "",
])("%s is not public", (address) => {
  expect(isPublicAddress(address)).toBe(false);
});

/** First bits that no public IPv4 address has. */
const PRIVATE_BLOCKS = [
  [0, 8],
  [10 << 24, 8],
  [127 << 24, 8],
  [(100 << 24) | (64 << 16), 10],
  [(169 << 24) | (254 << 16), 16],
  [(172 << 24) | (16 << 16), 12],
  [(192 << 24) | (168 << 16), 16],
  [224 << 24, 3],
] as const;

const privateIPv4 = fc
  .tuple(fc.constantFrom(...PRIVATE_BLOCKS), fc.nat(0xffffffff))
  .map(([[network, bits], host]) => (network | (host >>> bits)) >>> 0);

test("no spelling of a private IPv4 address that an address can hold is public", () => {
  const octets = (ip: number): number[] => [24, 16, 8, 0].map((shift) => (ip >>> shift) & 0xff);
  const hextets = (ip: number): string => `${(ip >>> 16).toString(16)}:${(ip & 0xffff).toString(16)}`;
  const spellings: ((ip: number) => string)[] = [
    (ip) => octets(ip).join("."),
    (ip) => String(ip),
    (ip) => `0x${ip.toString(16)}`,
    (ip) => `0${ip.toString(8)}`,
    (ip) =>
      octets(ip)
        .map((octet) => `0${octet.toString(8)}`)
        .join("."),
    (ip) =>
      octets(ip)
        .map((octet) => `0x${octet.toString(16)}`)
        .join("."),
    (ip) => `${ip >>> 24}.${ip & 0xffffff}`,
    (ip) => `${octets(ip).join(".")}.`,
    (ip) => `[::ffff:${octets(ip).join(".")}]`,
    (ip) => `[::ffff:${hextets(ip)}]`,
    (ip) => `[0:0:0:0:0:FFFF:${hextets(ip)}]`,
    (ip) => `[::${hextets(ip)}]`,
    (ip) => `[64:ff9b::${octets(ip).join(".")}]`,
    (ip) => `[2002:${hextets(ip)}::1]`,
  ];
  fc.assert(
    fc.property(privateIPv4, fc.constantFrom(...spellings), (ip, spelling) => {
      const { hostname } = new URL(`http://${spelling(ip)}/`);
      expect(isPublicAddress(hostname.replace(/^\[|\]$/g, ""))).toBe(false);
    }),
  );
});

test("of IPv6 nothing outside of 2000::/3 is public, but what stands for a public IPv4 address", () => {
  fc.assert(
    fc.property(fc.ipV6(), (address) => {
      const first = Number.parseInt(new URL(`http://[${address}]`).hostname.slice(1).split(":")[0] || "0", 16);
      fc.pre(first < 0x2000 || first > 0x3fff);
      fc.pre(first !== 0 && first !== 0x64);
      expect(isPublicAddress(address)).toBe(false);
    }),
  );
});
