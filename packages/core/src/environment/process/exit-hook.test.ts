import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { isRunning } from "../../../test/support/processes.ts";

test.skipIf(process.platform !== "linux")("what has left the group of the command goes with it", async () => {
  await leave("setsid sh -c 'trap \"\" TERM; echo $$; exec sleep 300' & wait");
});

test("a process that exits without waiting takes a command that ignores TERM with it", async () => {
  await leave("trap '' TERM; echo $$; exec sleep 300");
});

/** Runs a command that prints a process id first, exits at once, and expects that process to be gone. */
async function leave(command: string): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "rookery-exit-"));
  const module = resolve(import.meta.dirname, "run-process.ts");
  const script = join(directory, "leave.mts");
  await writeFile(
    script,
    [
      `import { runProcess } from ${JSON.stringify(module)};`,
      `const options = { file: "/bin/sh", args: ["-c", ${JSON.stringify(command)}] };`,
      'const running = runProcess({ ...options, cwd: "/", env: {} });',
      "for await (const { text } of running.output) { process.stdout.write(text); process.exit(0); }",
    ].join("\n"),
  );
  const tsx = import.meta.resolve("tsx");
  const { stdout } = await promisify(execFile)(process.execPath, ["--import", tsx, script]);
  const pid = Number(stdout);
  expect(pid).toBeGreaterThan(1);
  await expect.poll(() => isRunning(pid)).toBe(false);
  await rm(directory, { recursive: true });
}
