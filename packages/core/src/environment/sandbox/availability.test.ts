import { chmodSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { findBubblewrap, probe } from "./availability.ts";

test("a sandbox that is not there is told with how to get it", () => {
  expect(probe(undefined, "off")).toEqual({
    problem: "bubblewrap (bwrap) is not installed",
    hint: "install it with the system's package manager, as in: apt-get install bubblewrap",
  });
});

test.skipIf(process.platform === "win32")("a bubblewrap that cannot confine is told with its own words", () => {
  const bwrap = join(mkdtempSync(join(tmpdir(), "bwrap-")), "bwrap");
  writeFileSync(bwrap, "#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n");
  chmodSync(bwrap, 0o755);
  expect(probe(bwrap, "off")).toMatchObject({
    problem: `${bwrap} cannot confine a program: bwrap: No permissions to create new namespace`,
    hint: expect.stringContaining("allow user namespaces"),
  });
});

test("bubblewrap is looked for in absolute directories only", () => {
  const directory = mkdtempSync(join(tmpdir(), "bwrap-"));
  writeFileSync(join(directory, "bwrap"), "");
  chmodSync(join(directory, "bwrap"), 0o755);
  expect(findBubblewrap(`:.:bin:${directory}`)).toMatch(/^\/.*bwrap$/);
  expect(findBubblewrap(".")).not.toBe("bwrap");
});
