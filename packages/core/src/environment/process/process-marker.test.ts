import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { createMarker, findMarkedProcesses, PROCESS_MARKER } from "./process-marker.ts";

const onLinux = test.skipIf(process.platform !== "linux");

onLinux("a process is found by its marker and by its owner's, not by the beginning of one", async () => {
  const owner = createMarker();
  const marker = createMarker(owner);
  const child = spawn("sleep", ["60"], { env: { ...process.env, [PROCESS_MARKER]: marker }, stdio: "ignore" });
  await once(child, "spawn");
  try {
    await expect.poll(() => findMarkedProcesses(marker)).toEqual([child.pid]);
    expect(await findMarkedProcesses(owner)).toEqual([child.pid]);
    expect(await findMarkedProcesses(owner.slice(0, -1))).toEqual([]);
    expect(await findMarkedProcesses(createMarker())).toEqual([]);
  } finally {
    child.kill("SIGKILL");
  }
});

test("no two markers are the same", () => {
  expect(createMarker()).not.toBe(createMarker());
  expect(createMarker("owner")).toMatch(/^owner-[0-9a-f]{32}$/);
});
