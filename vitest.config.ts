import { chmodSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineConfig, type ViteUserConfig } from "vitest/config";

// What tests leave behind goes with the run. Some of it belongs to other users.
const temporary = mkdtempSync(join(tmpdir(), "rookery-tests-"));
chmodSync(temporary, 0o1777);
const home = join(temporary, "home");
mkdirSync(home);
process.on("exit", () => {
  try {
    rmSync(temporary, { recursive: true, force: true });
  } catch {
    // What cannot be removed is in nobody's way.
  }
});

const conditions = ["rookery-source", "module", "node", "development|production"];
const config: ViteUserConfig = defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    include: ["packages/*/src/**/*.test.ts", "packages/*/test/**/*.test.ts"],
    testTimeout: 20_000,
    // The default leaves one core idle.
    maxWorkers: "100%",
    // Modules are loaded once for all files of a worker: that is a third of the time. A file puts back what it replaces.
    isolate: false,
    restoreMocks: true,
    // Login shells of tests must not run, and be interrupted in, the profile of whoever tests.
    env: { HOME: home, TMPDIR: temporary },
  },
});

export default config;
