import { BlockList, isIP } from "node:net";

/** True for the host name of an address on this machine: `localhost`, a name below it, 127.0.0.0/8, also as IPv6, or ::1. */
export function isLoopbackHost(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
  const family = isIP(host);
  if (family === 0) return host === "localhost" || host.endsWith(".localhost");
  return LOOPBACK.check(host, family === 4 ? "ipv4" : "ipv6");
}

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet("127.0.0.0", 8);
LOOPBACK.addAddress("::1", "ipv6");
