import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { arch, release } from "node:os";
import { promisify } from "node:util";
import { type SandboxSettings, sandboxAvailability, terminalProblem } from "@rookery/core";
import type { Io } from "../io.ts";
import { type Finding, fail, ok, warn } from "./finding.ts";

const PROGRAM_TIMEOUT_MS = 5000;

/** What the machine has of what tools need. @param wanted - The sandbox that the person's configuration asks for. */
export async function machineFindings(
  env: NodeJS.ProcessEnv,
  wanted: Partial<SandboxSettings> | undefined,
): Promise<Finding[]> {
  const install = "install it with the system's package manager";
  return [
    node(process.versions.node),
    platform(process.platform),
    await program("bash", env, "commands run in sh without it, which knows less; "),
    await program("git", env, "agents look at changes with it; "),
    await program("rg", env, "optional, and quicker than grep in large directories; "),
    sandbox(wanted),
    ...(process.platform === "linux" ? [userNamespaces(), processes()] : []),
    await terminals(),
  ];

  async function program(name: string, env: NodeJS.ProcessEnv, why: string): Promise<Finding> {
    const run = promisify(execFile)(name, ["--version"], { env, timeout: PROGRAM_TIMEOUT_MS });
    const found = await run.then(
      ({ stdout }) => stdout.split("\n")[0]?.trim(),
      () => undefined,
    );
    return found === undefined ? warn(name, "not found", why + install) : ok(name, found || "there");
  }
}

/** The oldest Node that is supported is 20.19. */
export function node(version: string): Finding {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const isNew = major > 20 || (major === 20 && minor >= 19);
  return isNew ? ok("node", version) : fail("node", `${version} is too old`, "install Node 20.19 or newer");
}

export function platform(name: NodeJS.Platform): Finding {
  const found = `${name} ${release()} ${arch()}`;
  if (name === "linux" || name === "darwin") return ok("platform", found);
  return warn("platform", `${found} is not supported yet`, "work in Linux, as in WSL or a container");
}

/** @param availability - How it is found out whether there is one. */
export function sandbox(
  wanted: Partial<SandboxSettings> = {},
  availability: typeof sandboxAvailability = sandboxAvailability,
): Finding {
  for (const network of ["on", "off"] as const) {
    const available = availability(network);
    if (available.program !== undefined) continue;
    const { problem, hint } = available;
    const found = network === "off" ? `none without a network: ${problem}` : `none: ${problem}`;
    // Without one nothing starts that was told to be confined.
    const { mode = "off", network: wantedNetwork = "off" } = wanted;
    const isNeeded = mode !== "off" && (network === "on" || wantedNetwork === "off");
    return isNeeded ? fail("sandbox", found, hint) : warn("sandbox", found, hint);
  }
  const { program = "" } = availability("off");
  return ok("sandbox", `${program} confines programs, without a network too`);
}

/** Only told: whether they are enough is what the sandbox is tried for. */
function userNamespaces(): Finding {
  const most = setting("user/max_user_namespaces");
  const isOff = most === "0" || setting("kernel/unprivileged_userns_clone") === "0";
  const isRestricted = setting("kernel/apparmor_restrict_unprivileged_userns") === "1";
  if (!isOff && !isRestricted) return ok("user namespaces", most === undefined ? "no limit is told" : `up to ${most}`);
  const found = isOff ? "switched off" : "restricted by AppArmor";
  return warn("user namespaces", found, "only root can have a sandbox then; see sysctl and docs/tools.md");
}

function setting(name: string): string | undefined {
  try {
    return readFileSync(`/proc/sys/${name}`, "utf8").trim();
  } catch {
    return undefined;
  }
}

function processes(): Finding {
  try {
    readFileSync("/proc/self/environ");
    return ok("/proc", "processes can be found");
  } catch {
    return warn("/proc", "cannot be read", "mount it; processes that leave their command are not found without it");
  }
}

async function terminals(): Promise<Finding> {
  const problem = await terminalProblem();
  return problem === undefined
    ? ok("pseudo-terminal", "commands can have one (tty)")
    : warn("pseudo-terminal", problem, "everything else works without");
}

/** What the terminal shows. */
export function display({ stdout, env }: Pick<Io, "stdout" | "env">): Finding {
  const locale = env.LC_ALL || env.LC_CTYPE || env.LANG || "";
  const colour = stdout.isTTY && !env.NO_COLOR && env.TERM !== "dumb" ? "colours" : "no colours";
  const found = `${stdout.isTTY ? `a terminal of ${stdout.columns ?? 80} columns` : "no terminal"}, ${colour}`;
  const isUnicode = /utf-?8/i.test(locale) || process.platform === "darwin";
  if (isUnicode || !stdout.isTTY) return ok("display", found);
  return warn("display", `${found}, locale ${locale || "not set"}`, "set LANG to a UTF-8 locale, as in C.UTF-8");
}
