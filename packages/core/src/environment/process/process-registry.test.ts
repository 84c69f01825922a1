import { mkdtemp, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { isRunning, readPid } from "../../../test/support/processes.ts";
import { createMarker } from "./process-marker.ts";
import { ProcessRegistry } from "./process-registry.ts";
import type { RunningProcess } from "./run-process.ts";

const onLinux = test.skipIf(process.platform !== "linux");

async function started(registry: ProcessRegistry, script: string): Promise<{ running: RunningProcess; cwd: string }> {
  const cwd = await mkdtemp(join(tmpdir(), "rookery-registry-"));
  const env = { PATH: process.env.PATH ?? "" };
  return { running: registry.run({ file: "bash", args: ["-c", script], cwd, env }), cwd };
}

test("dispose ends what runs, resolves when all has ended, and may be called twice", async () => {
  const registry = new ProcessRegistry();
  const one = await started(registry, "echo $$ > pid; sleep 60");
  const two = await started(registry, "echo $$ > pid; sleep 60");
  const pids = await Promise.all([one, two].map(({ cwd }) => readPid(join(cwd, "pid"))));
  await registry.dispose();
  expect(await Promise.all(pids.map(isRunning))).toEqual([false, false]);
  expect(await one.running.ended).toMatchObject({ outcome: "aborted" });
  await registry.dispose();
});

/** Out of the group before it says so. */
const leavesGroup = "setsid sh -c 'echo $$ > pid; exec sleep 60' >/dev/null 2>&1";

onLinux("dispose ends what left its group, also of a command that ended long ago", async () => {
  const registry = new ProcessRegistry();
  const { running, cwd } = await started(registry, `${leavesGroup} & until test -s pid; do sleep 0.01; done`);
  await running.ended;
  const pid = await readPid(join(cwd, "pid"));
  expect(await isRunning(pid)).toBe(true);
  await registry.dispose();
  expect(await isRunning(pid)).toBe(false);
});

onLinux("a registry of the same owner ends what an earlier one left running", async () => {
  const owner = createMarker();
  const { running, cwd } = await started(new ProcessRegistry(owner), "echo $$ > pid; sleep 60");
  const pid = await readPid(join(cwd, "pid"));
  await new ProcessRegistry(createMarker()).endLeftovers();
  expect(await isRunning(pid)).toBe(true);
  await new ProcessRegistry(owner).endLeftovers();
  expect(await isRunning(pid)).toBe(false);
  expect(await running.ended).toMatchObject({ outcome: "exited", signal: "SIGTERM" });
});

test("after dispose nothing is started any more", async () => {
  const registry = new ProcessRegistry();
  await registry.dispose();
  const { running, cwd } = await started(registry, "echo ran > ran");
  expect(await running.ended).toMatchObject({ outcome: "aborted", exitCode: null, signal: null });
  await expect(readFile(join(cwd, "ran"))).rejects.toThrow("ENOENT");
});
