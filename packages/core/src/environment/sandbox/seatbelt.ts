import { join } from "node:path";
import type { Area } from "./areas.ts";
import type { SandboxSettings } from "./settings.ts";

/**
 * The profile of `sandbox-exec` (macOS): of the rules that fit, the last one counts.
 *
 * @param options.protectedPaths - Files that may not be read.
 */
export function seatbeltProfile(options: {
  readonly areas: readonly Area[];
  readonly network: SandboxSettings["network"];
  readonly protectedPaths: readonly string[];
}): string {
  const { areas, network, protectedPaths } = options;
  const guarded = areas.filter(({ writable }) => writable).map(({ path }) => join(path, ".git"));
  return [
    "(version 1)",
    "(allow default)",
    "(deny file-write*)",
    '(allow file-write* (literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty") (regex #"^/dev/(ttys[0-9]+|fd/[0-9]+)$"))',
    ...areas.map(({ path, writable }) => `(${writable ? "allow" : "deny"} file-write* (subpath ${quoted(path)}))`),
    ...guarded.flatMap((git) => [
      // The directory itself, and a file in its place, can be neither renamed nor removed.
      `(deny file-write* (literal ${quoted(git)}))`,
      `(deny file-write* (subpath ${quoted(join(git, "hooks"))}) (literal ${quoted(join(git, "config"))}))`,
    ]),
    ...protectedPaths.map((path) => `(deny file-read* file-write* (subpath ${quoted(path)}))`),
    ...(network === "off" ? ["(deny network*)"] : []),
    "",
  ].join("\n");
}

function quoted(path: string): string {
  return `"${path.replaceAll(/[\\"]/g, "\\$&")}"`;
}
