import { execFileSync } from "node:child_process";
import { onTestFinished } from "vitest";

const NOBODY = 65534;

/** Root may do everything: lets the rest of a test run as a user who may not, and who owns `directory`. */
export function becomeOrdinaryUser(directory: string): void {
  if (process.getuid?.() !== 0) return;
  execFileSync("chown", ["-R", `${NOBODY}:${NOBODY}`, directory]);
  process.setegid?.(NOBODY);
  process.seteuid?.(NOBODY);
  onTestFinished(() => {
    process.seteuid?.(0);
    process.setegid?.(0);
  });
}
