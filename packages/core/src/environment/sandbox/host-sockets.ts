import { readFileSync, statSync } from "node:fs";

/**
 * The sockets in the file system on which something outside listens: agents, daemons, databases.
 *
 * A read-only mount does not keep anybody from connecting to one, whichever network the process has.
 */
export function hostSockets(): string[] {
  const paths = new Set<string>();
  for (const line of readTable().split("\n")) {
    // Num, RefCount, Protocol, Flags, Type, St, Inode, Path
    const path = /^\S+:(?: \S+){6} (\/.*)$/.exec(line.replaceAll(/ +/g, " "))?.[1];
    // The name is the listener's own word for it.
    if (path !== undefined && isSocket(path)) paths.add(path);
  }
  return [...paths];
}

function isSocket(path: string): boolean {
  try {
    return statSync(path).isSocket();
  } catch {
    return false;
  }
}

function readTable(): string {
  try {
    return readFileSync("/proc/net/unix", "utf8");
  } catch {
    return "";
  }
}
