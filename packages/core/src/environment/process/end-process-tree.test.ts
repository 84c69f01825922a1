import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { isRunning, readPid } from "../../../test/support/processes.ts";
import { endProcessTree, endProcessTreePlan } from "./end-process-tree.ts";

test("the plan for a process tree is a signal to its group, and taskkill on Windows, for Ctrl-C too (PT-109)", () => {
  expect(endProcessTreePlan("linux", 4711)).toEqual({ kind: "signal", target: -4711 });
  expect(endProcessTreePlan("darwin", 4711)).toEqual({ kind: "signal", target: -4711 });
  expect(endProcessTreePlan("win32", 4711)).toEqual({
    kind: "program",
    file: "taskkill",
    args: ["/pid", "4711", "/t", "/f"],
  });
});

test("every member of a group whose leader has ended is ended (PE-032)", async () => {
  const directory = await mkdtemp(join(tmpdir(), "rookery-tree-"));
  const leader = spawn("sh", ["-c", "sleep 60 & echo $! > pid"], { cwd: directory, detached: true, stdio: "ignore" });
  await once(leader, "exit");
  const member = await readPid(join(directory, "pid"));
  expect(await isRunning(member)).toBe(true);
  await endProcessTree({ pid: leader.pid }, 2000);
  expect(await isRunning(member)).toBe(false);
});

test("a group that ends early is not waited for longer (PE-029)", async () => {
  const child = spawn("sleep", ["60"], { detached: true, stdio: "ignore" });
  await once(child, "spawn");
  const anHourMs = 3_600_000;
  await endProcessTree({ pid: child.pid }, anHourMs);
  expect(child.signalCode).toBe("SIGTERM");
});

test("ending what has ended already is nothing", async () => {
  const child = spawn("true", { detached: true, stdio: "ignore" });
  await once(child, "exit");
  await endProcessTree({ pid: child.pid, marker: "nobody-has-this-marker" }, 2000);
});
