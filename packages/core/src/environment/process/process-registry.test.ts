import { existsSync, mkdtempSync, statSync } from "node:fs";
import { mkdtemp, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { isRunning, readPid } from "../../../test/support/processes.ts";
import { ProcessRegistry } from "./process-registry.ts";
import type { RunningProcess } from "./run-process.ts";

const onLinux = test.skipIf(process.platform !== "linux");

const directory = mkdtempSync(join(tmpdir(), "rookery-owner-"));
const ownerFile = (session: string): string => join(directory, session);
const registryOf = (session: string): ProcessRegistry => new ProcessRegistry({ ownerFile: ownerFile(session) });

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

onLinux("a registry with the owner file of one that was not disposed of ends what that left running", async () => {
  const { running, cwd } = await started(registryOf("one"), "echo $$ > pid; sleep 60");
  const pid = await readPid(join(cwd, "pid"));
  await registryOf("another").endLeftovers();
  expect(await isRunning(pid)).toBe(true);
  await registryOf("one").endLeftovers();
  expect(await isRunning(pid)).toBe(false);
  expect(await running.ended).toMatchObject({ outcome: "exited", signal: "SIGTERM" });
});

test("the owner file is there for its user alone, from the first process until dispose", async () => {
  const registry = registryOf("session");
  expect(existsSync(ownerFile("session"))).toBe(false);
  const { running } = await started(registry, "true");
  expect(statSync(ownerFile("session")).mode & 0o777).toBe(0o600);
  await running.ended;
  await registry.dispose();
  expect(existsSync(ownerFile("session"))).toBe(false);
});

test.each(["", "\n", "abc\n", "../../etc\n", `${"a".repeat(24)}-\n`, "\0".repeat(100)])(
  "an owner file that holds something else is not believed: %j",
  async (content) => {
    await writeFile(ownerFile("odd"), content);
    const registry = registryOf("odd");
    await registry.endLeftovers();
    const { running } = await started(registry, "echo $ROOKERY_PROCESS");
    await running.ended;
    expect(await readFile(ownerFile("odd"), "utf8")).toMatch(/^[0-9a-f]{24}\n$/);
    await registry.dispose();
  },
);

test("an owner that cannot be written down is a warning, and the process runs", async () => {
  const warnings: string[] = [];
  await writeFile(ownerFile("blocked"), "");
  const registry = new ProcessRegistry({
    ownerFile: join(ownerFile("blocked"), "owner"),
    onWarning: ({ code }) => warnings.push(code),
  });
  const { running } = await started(registry, "exit 3");
  expect(await running.ended).toMatchObject({ outcome: "exited", exitCode: 3 });
  expect(warnings).toEqual(["processes-unrecorded"]);
});

test("after dispose nothing is started any more", async () => {
  const registry = new ProcessRegistry();
  await registry.dispose();
  const { running, cwd } = await started(registry, "echo ran > ran");
  expect(await running.ended).toMatchObject({ outcome: "aborted", exitCode: null, signal: null });
  await expect(readFile(join(cwd, "ran"))).rejects.toThrow("ENOENT");
});
