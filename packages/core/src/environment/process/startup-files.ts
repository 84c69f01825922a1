import { readdirSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

/** What a login bash reads, and what those files usually read in turn, on Debian and on Fedora. */
const SYSTEM_FILES = ["/etc/profile", "/etc/bash.bashrc", "/etc/bashrc"];
const SYSTEM_DIRECTORY = "/etc/profile.d";
const HOME_FILES = [".bash_profile", ".bash_login", ".profile", ".bashrc"];

/**
 * A text that becomes another one when a startup file of bash is made, written, replaced or removed.
 *
 * @param home - As in `HOME`; default: the user's.
 */
export function startupFilesState(home: string = homedir()): string {
  return [
    ...SYSTEM_FILES,
    ...entriesOf(SYSTEM_DIRECTORY).map((name) => join(SYSTEM_DIRECTORY, name)),
    ...HOME_FILES.map((name) => join(home, name)),
  ]
    .map(stateOf)
    .join(" ");
}

function entriesOf(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
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
