import type { Mount } from "./mount-plan.ts";
import type { SandboxSettings } from "./settings.ts";

/**
 * What bubblewrap itself must not die of: the process outside would take everything inside with it before that can clean
 * up. Inside, signals have their usual meaning again.
 */
const SIGNALS = "HUP,INT,QUIT,TERM,USR1,USR2,ALRM";

/** They lead to processes outside, or to a directory that is not there. */
const WITHHELD = [
  "SSH_AUTH_SOCK",
  "SSH_AGENT_PID",
  "GPG_AGENT_INFO",
  "DBUS_SESSION_BUS_ADDRESS",
  "DBUS_SYSTEM_BUS_ADDRESS",
  "XDG_RUNTIME_DIR",
  "WAYLAND_DISPLAY",
  "DISPLAY",
  "DOCKER_HOST",
  "TMPDIR",
  "TMP",
  "TEMP",
];

/**
 * The command line of a command in bubblewrap: namespaces of its own, no privilege, and the mounts of a plan. All of it ends with
 * the command itself, and with whoever started it.
 *
 * Its process group and its terminal stay the command's. Root keeps the one privilege of writing files of other users, as far as
 * mounts let it.
 */
export function bubblewrapCommand(
  bwrap: string,
  argv: readonly string[],
  options: { readonly mounts: readonly Mount[]; readonly network: SandboxSettings["network"]; readonly cwd: string },
): string[] {
  return [
    "/usr/bin/env",
    `--ignore-signal=${SIGNALS}`,
    bwrap,
    ...["--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", "--die-with-parent"],
    ...(options.network === "off" ? ["--unshare-net"] : []),
    ...["--cap-drop", "ALL", ...(process.getuid?.() === 0 ? ["--cap-add", "CAP_DAC_OVERRIDE"] : [])],
    ...options.mounts.flatMap(mountArguments),
    ...WITHHELD.flatMap((name) => ["--unsetenv", name]),
    ...["--chdir", options.cwd, "--", "/usr/bin/env", "--default-signal"],
    // A program with = in its path would be taken for a variable.
    ...(argv[0]?.includes("=") ? ["sh", "-c", 'exec "$@"', "sh"] : []),
    ...argv,
  ];
}

function mountArguments(mount: Mount): string[] {
  const { path } = mount;
  switch (mount.kind) {
    case "read-only":
      return [mount.optional ? "--ro-bind-try" : "--ro-bind", mount.from ?? path, path];
    case "writable":
      return ["--bind", mount.from ?? path, path];
    case "hidden":
      return ["--ro-bind", "/dev/null", path];
    case "link":
      return ["--symlink", mount.target, path];
    case "empty":
      return ["--tmpfs", path];
    case "sealed":
      return ["--remount-ro", path];
    case "dev":
    case "proc":
      return [`--${mount.kind}`, path];
  }
}
