import { execFileSync } from "node:child_process";
import { mkdtempSync, rmdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** True where this process may mount file systems: root on Linux, outside of most containers. */
export const canMount: boolean = process.platform === "linux" && process.getuid?.() === 0 && tryMount();

function tryMount(): boolean {
  const directory = mkdtempSync(join(tmpdir(), "mount-test-"));
  try {
    execFileSync("mount", ["-t", "tmpfs", "none", directory], { stdio: "ignore" });
    execFileSync("umount", [directory], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  } finally {
    rmdirSync(directory);
  }
}
