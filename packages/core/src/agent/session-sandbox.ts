import { join } from "node:path";
import { createSandbox, type Sandbox, sandboxNotice } from "../environment/sandbox/sandbox.ts";
import type { SandboxPlace, SandboxSettings } from "../environment/sandbox/settings.ts";
import { RookeryError } from "../errors/rookery-error.ts";
import type { AgentPaths } from "./paths.ts";
import { secretFiles } from "./secret-files.ts";
import { readUserConfig } from "./user-config.ts";

/** The sandbox of one session, and what its model is told of it; both absent where it is off. */
export interface SessionSandbox {
  readonly settings: SandboxSettings;
  readonly sandbox: Sandbox | undefined;
  readonly notice: string | undefined;
}

/**
 * Settles what is asked for: the wish, part by part, else the person's configuration, else off. A sandbox has no network unless it
 * is given one.
 *
 * @throws {RookeryError} `usage` or `config-invalid` for a network that is off without a sandbox.
 */
export async function sandboxSettings(
  wish: Partial<SandboxSettings> = {},
  userConfigFile: string,
): Promise<SandboxSettings> {
  const { sandbox: stored = {} } = await readUserConfig(userConfigFile);
  const mode = wish.mode ?? stored.mode ?? "off";
  if (mode !== "off") return { mode, network: wish.network ?? stored.network ?? "off" };
  const hint = "choose read-only or workspace-write too, with --sandbox or as sandbox.mode";
  if (wish.network === "off") {
    throw new RookeryError("usage", "the network was to be off without a sandbox, and nothing would keep it off", {
      hint,
    });
  }
  if (stored.network === "off" && stored.mode === undefined) {
    const problem = `${userConfigFile}: sandbox.network is off without a sandbox, and nothing would keep it off`;
    throw new RookeryError("config-invalid", problem, { hint });
  }
  return { mode, network: "on" };
}

/** @throws {RookeryError} `sandbox-unavailable`. */
export function sessionSandbox(
  settings: SandboxSettings,
  paths: AgentPaths,
  session: { readonly workspaceDir: string; readonly scratchpadDir: string },
): SessionSandbox {
  const place: SandboxPlace = {
    ...session,
    memoryDir: join(paths.agentStateDir, "memory"),
    dataRoot: paths.root,
    protectedPaths: secretFiles(paths),
  };
  return { settings, sandbox: createSandbox(settings, place), notice: sandboxNotice(settings, place) };
}
