import { existsSync } from "node:fs";
import { relative } from "node:path";
import { RookeryError } from "../../errors/rookery-error.ts";
import { ensurePrivateDirectory } from "../../trace/private-files.ts";
import { realPathOf } from "../files/resolve-path.ts";
import { modelVisiblePath } from "../model-visible-path.ts";
import { areasOf, isWithin, isWritable, privateTmp } from "./areas.ts";
import { sandboxAvailability } from "./availability.ts";
import { bubblewrapCommand } from "./bubblewrap.ts";
import { gitGuards, isGuardedGitPath } from "./git-guards.ts";
import { type Fixtures, findFixtures, mountPlan } from "./mount-plan.ts";
import { seatbeltProfile } from "./seatbelt.ts";
import type { Confine, SandboxPlace, SandboxSettings } from "./settings.ts";

/** What confines the processes and the file tools of one session. */
export interface Sandbox {
  readonly confine: Confine;
  /** Why a file tool may not write to a real path; absent where it may. */
  writeProblem(realPath: string): string | undefined;
}

/**
 * Makes the sandbox of a session: `undefined` where none is asked for.
 *
 * @param availability - What this machine can do; default: it is tried.
 * @throws {RookeryError} `sandbox-unavailable` where it is asked for and this machine cannot do it.
 */
export function createSandbox(
  settings: SandboxSettings | undefined,
  place: SandboxPlace,
  availability: typeof sandboxAvailability = sandboxAvailability,
): Sandbox | undefined {
  if (settings === undefined || settings.mode === "off") return undefined;
  const available = availability(settings.network);
  if (available.program === undefined) {
    const { problem, hint } = available;
    const message = `the sandbox ${settings.mode} is asked for and not available: ${problem}`;
    throw new RookeryError("sandbox-unavailable", message, { hint: `${hint}; or run without, with --sandbox off` });
  }
  const confineBy = process.platform === "darwin" ? confineBySeatbelt : confineByBubblewrap;
  return {
    confine: confineBy(available.program, settings, place),
    writeProblem: (realPath) => writeProblem(realPath, settings, place),
  };
}

/** What a model has to know of its sandbox, in a few sentences. */
export function sandboxNotice({ mode, network }: SandboxSettings, place: SandboxPlace): string | undefined {
  if (mode === "off") return undefined;
  const roots = writableRoots(mode, place);
  const git = mode === "workspace-write" ? " .git/hooks and .git/config cannot be changed." : "";
  const net =
    network === "on"
      ? ""
      : " Commands have no network; each has a loopback of its own, so a server is reached only by the command that started it.";
  return (
    `Sandbox (${mode}): commands and file tools can write below ${roots} only, commands also to a private /tmp that ` +
    `file tools do not see; everything else is read-only.${git}${net} Do not try to get around it: say what you would ` +
    "need, and the user decides."
  );
}

function writeProblem(path: string, settings: SandboxSettings, place: SandboxPlace): string | undefined {
  const areas = areasOf(settings, place);
  const workspace = realPathOf(place.workspaceDir);
  if (!isWritable(areas, path)) {
    const roots = writableRoots(settings.mode, place);
    return `the sandbox (${settings.mode}) lets file tools write below ${roots} only, not to ${modelVisiblePath(path)}`;
  }
  const inWorkspace = relative(workspace, path);
  const isGuarded =
    isGuardedGitPath(inWorkspace) ||
    (inWorkspace === ".git" && isWithin(workspace, path)) ||
    gitGuards(workspace).some((guard) => isWithin(guard, path));
  return isGuarded
    ? `the sandbox (${settings.mode}) keeps hooks and configuration of git as they are, ${modelVisiblePath(path)} too`
    : undefined;
}

function writableRoots(
  mode: SandboxSettings["mode"],
  { workspaceDir, scratchpadDir, memoryDir }: SandboxPlace,
): string {
  const roots =
    mode === "workspace-write"
      ? [workspaceDir, memoryDir && existsSync(memoryDir) ? memoryDir : undefined, scratchpadDir]
      : [scratchpadDir];
  const shown = roots.flatMap((root) => (root === undefined ? [] : [modelVisiblePath(root)]));
  return shown.length === 0 ? "no directory" : shown.join(" and ");
}

function confineByBubblewrap(program: string, settings: SandboxSettings, place: SandboxPlace): Confine {
  const { network } = settings;
  let fixtures: Fixtures | undefined;
  return (argv, { cwd }) => {
    fixtures ??= findFixtures(settings, place);
    return bubblewrapCommand(program, argv, { mounts: mountPlan(settings, place, fixtures), network, cwd });
  };
}

/** There are no private mounts on macOS: what asks for the place of temporary files gets the scratchpad's. */
function confineBySeatbelt(program: string, settings: SandboxSettings, place: SandboxPlace): Confine {
  const { scratchpadDir, protectedPaths = [] } = place;
  return (argv) => {
    if (scratchpadDir !== undefined) ensurePrivateDirectory(privateTmp(scratchpadDir));
    const profile = seatbeltProfile({
      areas: areasOf(settings, place),
      network: settings.network,
      protectedPaths: protectedPaths.map(realPathOf),
    });
    const temporary = scratchpadDir === undefined ? [] : [`TMPDIR=${privateTmp(scratchpadDir)}`];
    return [program, "-p", profile, "/usr/bin/env", "-u", "SSH_AUTH_SOCK", ...temporary, ...argv];
  };
}
