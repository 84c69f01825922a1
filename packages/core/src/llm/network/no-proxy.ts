import { BlockList, isIP } from "node:net";
import { domainToASCII } from "node:url";

/**
 * True when `NO_PROXY` names the host of an address, as curl reads it: entries between commas or blanks, each a host name
 * (and all below it; a dot before it changes nothing), an address, a CIDR block, or `*` for every host. Beyond curl, `*`
 * may stand in a list, `*.` before a name, brackets around an IPv6 address, and a `:PORT` behind, to which it is limited.
 */
export function isExempt({ hostname, port, protocol }: URL, noProxy: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
  const ownPort = port || (protocol === "https:" ? "443" : "80");
  const entries = noProxy.toLowerCase().split(/[\s,]+/);
  return entries.some((entry) => {
    if (entry === "*") return true;
    const { name, onlyPort } = splitPort(entry);
    if (onlyPort !== undefined && onlyPort !== ownPort) return false;
    return isIP(host) ? coversAddress(name, host) : coversName(name, host);
  });
}

/** What has more than one colon and no brackets is an IPv6 address without a port. */
function splitPort(entry: string): { name: string; onlyPort?: string | undefined } {
  const parts = /^(?:\[(.*)\]|([^:]*))(?::(\d+))?$/.exec(entry);
  return parts ? { name: parts[1] ?? parts[2] ?? "", onlyPort: parts[3] } : { name: entry };
}

function coversName(entry: string, host: string): boolean {
  // An address has the names of its host in ASCII, whatever letters it was written with.
  const name = domainToASCII(entry.replace(/^\*?\./, "").replace(/\.$/, ""));
  return name !== "" && (host === name || host.endsWith(`.${name}`));
}

function coversAddress(entry: string, host: string): boolean {
  const [address = "", bits] = entry.split("/");
  const family = isIP(address);
  const maxBits = family === 4 ? 32 : 128;
  const prefix = bits === undefined ? maxBits : /^\d+$/.test(bits) ? Number(bits) : Number.POSITIVE_INFINITY;
  if (family === 0 || prefix > maxBits) return false;
  const block = new BlockList();
  block.addSubnet(address, prefix, family === 4 ? "ipv4" : "ipv6");
  return block.check(host, isIP(host) === 4 ? "ipv4" : "ipv6");
}
