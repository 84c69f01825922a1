import { readdirSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

/** What a login bash reads, and what those files usually read in turn, on Debian and on Fedora. */
const SYSTEM_FILES = ["profile", "bash.bashrc", "bashrc"];
const SYSTEM_DIRECTORY = "profile.d";
const HOME_FILES = [".bash_profile", ".bash_login", ".profile", ".bashrc"];

/**
 * A text that becomes another one when a startup file of bash is made, written, replaced or removed.
 *
 * @param env - The shell's environment: `HOME` (default: the user's), and `BASH_ENV`.
 * @param etc - Where the system's files are.
 */
export function startupFilesState(
  { HOME = homedir(), BASH_ENV }: Readonly<Record<string, string>>,
  etc = "/etc",
): string {
  return [
    ...SYSTEM_FILES.map((name) => join(etc, name)),
    ...entriesOf(join(etc, SYSTEM_DIRECTORY)),
    ...HOME_FILES.map((name) => join(HOME, name)),
    ...(BASH_ENV ? [BASH_ENV] : []),
  ]
    .map(stateOf)
    .join(" ");
}

function entriesOf(directory: string): readonly string[] {
  try {
    return readdirSync(directory).map((name) => join(directory, name));
  } catch {
    return [];
  }
}

/** What cannot be looked at counts as missing: a shell cannot read it either. */
function stateOf(path: string): string {
  try {
    const { dev, ino, ctimeMs } = statSync(path);
    return `${dev}:${ino}:${ctimeMs}`;
  } catch {
    return "-";
  }
}
