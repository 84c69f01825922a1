import { expect, test } from "vitest";
import { confinedExit } from "./confined-exit.ts";

test.each([
  [130, "SIGINT"],
  [137, "SIGKILL"],
  [139, "SIGSEGV"],
  [143, "SIGTERM"],
] as const)("exit code %d of what confines is %s of the program", (exitCode, signal) => {
  expect(confinedExit({ exitCode, signal: null })).toEqual({ exitCode: null, signal });
});

test.each([0, 1, 127, 128, 129, 133, 159, 255])("exit code %d is the program's own", (exitCode) => {
  expect(confinedExit({ exitCode, signal: null })).toEqual({ exitCode, signal: null });
});

test("a signal that ended what confines stays", () => {
  expect(confinedExit({ exitCode: null, signal: "SIGKILL" })).toEqual({ exitCode: null, signal: "SIGKILL" });
});
