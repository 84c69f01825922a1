import { spawnSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import { bubblewrapCommand } from "./bubblewrap.ts";
import type { SandboxSettings } from "./settings.ts";

/** Whether commands can be confined here, by which program, and if not, why and what to do. */
export type SandboxAvailability =
  | { readonly program: string }
  | { readonly program?: never; readonly problem: string; readonly hint: string };

const PROBE_TIMEOUT_MS = 10_000;
const SEATBELT = "/usr/bin/sandbox-exec";
const found = new Map<SandboxSettings["network"], SandboxAvailability>();

/** Found out once in the life of the process, by really confining a program. */
export function sandboxAvailability(network: SandboxSettings["network"]): SandboxAvailability {
  const known = found.get(network) ?? look(network);
  found.set(network, known);
  return known;
}

function look(network: SandboxSettings["network"]): SandboxAvailability {
  if (process.platform === "linux") return probe(findBubblewrap(process.env.PATH), network);
  if (process.platform === "darwin" && isExecutable(SEATBELT)) return { program: SEATBELT };
  return { problem: `there is none for ${process.platform}`, hint: "run Rookery in a container or a virtual machine" };
}

/** Only from absolute directories: what a workspace holds must not become what confines it. */
export function findBubblewrap(searchPath = ""): string | undefined {
  const directories = ["/usr/bin", ...searchPath.split(delimiter).filter(isAbsolute)];
  return directories.map((directory) => join(directory, "bwrap")).find(isExecutable);
}

/** Runs `true` confined. @param bwrap - Absent: none was found. */
export function probe(bwrap: string | undefined, network: SandboxSettings["network"]): SandboxAvailability {
  if (bwrap === undefined) {
    const hint = "install it with the system's package manager, as in: apt-get install bubblewrap";
    return { problem: "bubblewrap (bwrap) is not installed", hint };
  }
  const mounts = [
    { kind: "read-only", path: "/" },
    { kind: "dev", path: "/dev" },
    { kind: "proc", path: "/proc" },
  ] as const;
  const [file = "", ...args] = bubblewrapCommand(bwrap, ["true"], { mounts, network, cwd: "/" });
  const { status, signal, stderr, error } = spawnSync(file, args, { timeout: PROBE_TIMEOUT_MS, encoding: "utf8" });
  if (status === 0) return { program: bwrap };
  const [line = ""] = (stderr ?? "").trim().split("\n");
  const said = line || error?.message || `it ended with ${signal ?? status}`;
  return { problem: `${bwrap} cannot confine a program: ${said}`, hint: hintFor(said) };
}

function hintFor(said: string): string {
  if (/signal/.test(said)) return "install coreutils 8.31 or newer, whose env resets signals";
  return (
    "allow user namespaces (sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone=1, on Ubuntu " +
    "kernel.apparmor_restrict_unprivileged_userns=0); in a container ask for it to be allowed there"
  );
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
