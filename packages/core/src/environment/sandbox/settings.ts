/** What commands may touch, as a person or a program asks for it. */
export interface SandboxSettings {
  /** What may be written: everything the user may; the scratchpad and a private `/tmp`; these and the workspace. */
  readonly mode: "off" | "read-only" | "workspace-write";
  readonly network: "on" | "off";
}

/** What a sandbox is made for; absolute paths, which need not exist. */
export interface SandboxPlace {
  readonly workspaceDir: string;
  /** The session's own, with the private `/tmp` below it; absent: `/tmp` lives for one command. */
  readonly scratchpadDir?: string;
  /** Writable where it exists. */
  readonly memoryDir?: string;
  /** The harness's data directory, never writable but for the above. */
  readonly dataRoot?: string;
  /** Files that nobody inside may read. */
  readonly protectedPaths?: readonly string[];
}

/**
 * Turns a command line into one that runs the same program confined; `cwd` and `env` stay those of the process.
 *
 * Asked for every process, since what has to be protected changes. @throws what keeps it from being confined.
 */
export type Confine = (
  argv: readonly string[],
  place: { readonly cwd: string; readonly env: Readonly<Record<string, string>> },
) => readonly string[];
