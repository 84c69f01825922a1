import { BlockList, isIP } from "node:net";

/**
 * True for an IP address that belongs to some host of the public internet: not to this machine, a private network, a
 * link, a multicast group, documentation, or the place where a cloud keeps what it tells its machines.
 *
 * An IPv6 address that stands for an IPv4 one (mapped, or through NAT64) counts as that.
 *
 * @param address - In any spelling that `isIP` knows; anything else is not public.
 */
export function isPublicAddress(address: string): boolean {
  const ip = address.replace(/%.*$/, "");
  if (isIP(ip) === 4) return !RESERVED_IPV4.check(ip);
  if (isIP(ip) === 0) return false;
  const embedded = embeddedIPv4(ip);
  if (embedded !== undefined) return isPublicAddress(embedded);
  return GLOBAL_IPV6.check(ip, "ipv6") && !RESERVED_IPV6.check(ip, "ipv6");
}

/** The IPv4 address in one of `::ffff:0:0/96` or `64:ff9b::/96`. */
function embeddedIPv4(ip: string): string | undefined {
  const { hostname } = new URL(`http://[${ip}]`);
  const [, high, low] = /^\[(?:::ffff|64:ff9b:):([\da-f]{1,4}):([\da-f]{1,4})\]$/.exec(hostname) ?? [];
  if (high === undefined || low === undefined) return undefined;
  const bits = Number.parseInt(high, 16) * 0x10000 + Number.parseInt(low, 16);
  return [24, 16, 8, 0].map((shift) => (bits >>> shift) & 0xff).join(".");
}

const RESERVED_IPV4 = blockList("ipv4", [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  // Azure tells its machines their secrets here.
  "168.63.129.16/32",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/3",
]);

/** Everything else is local, multicast or not given out. */
const GLOBAL_IPV6 = blockList("ipv6", ["2000::/3"]);
/** Special purposes (Teredo among them), documentation, 6to4. */
const RESERVED_IPV6 = blockList("ipv6", ["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"]);

function blockList(family: "ipv4" | "ipv6", blocks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const block of blocks) {
    const [network = "", prefix] = block.split("/");
    list.addSubnet(network, Number(prefix), family);
  }
  return list;
}
