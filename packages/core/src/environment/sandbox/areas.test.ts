import { mkdirSync, mkdtempSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { areasOf, isWritable } from "./areas.ts";
import { isGuardedGitPath } from "./git-guards.ts";

const place = {
  workspaceDir: "/home/me",
  dataRoot: "/home/me/.rookery",
  memoryDir: "/home/me/.rookery/p/agents/a/agent_state/memory",
  scratchpadDir: "/home/me/.rookery/p/agents/a/scratchpad/s",
};

test.each([
  ["/home/me/app/a", true, false],
  ["/home/me", true, false],
  ["/home/meals", false, false],
  ["/etc/passwd", false, false],
  ["/home/me/.rookery", false, false],
  ["/home/me/.rookery/config.yaml", false, false],
  ["/home/me/.rookery/p/agents/a/scratchpad/s/x", true, true],
  ["/home/me/.rookery/p/agents/a/scratchpad/other", false, false],
  ["/home/me/.rookery/p/agents/a/agent_state/memory/x", true, false],
])("the innermost area decides: %s", (path, inWorkspaceWrite, inReadOnly) => {
  expect(isWritable(areasOf({ mode: "workspace-write", network: "off" }, place), path)).toBe(inWorkspaceWrite);
  expect(isWritable(areasOf({ mode: "read-only", network: "off" }, place), path)).toBe(inReadOnly);
});

test("a workspace that is the data directory is not writable, one inside of it is", () => {
  const writable = (workspaceDir: string): boolean =>
    isWritable(areasOf({ mode: "workspace-write", network: "off" }, { ...place, workspaceDir }), `${workspaceDir}/x`);
  expect(writable(place.dataRoot)).toBe(false);
  expect(writable(`${place.dataRoot}/p/agents/a/workspaces/tmp-1`)).toBe(true);
});

test("areas are where links lead", () => {
  const base = mkdtempSync(join(tmpdir(), "areas-"));
  mkdirSync(join(base, "real"));
  symlinkSync(join(base, "real"), join(base, "link"));
  const areas = areasOf({ mode: "workspace-write", network: "off" }, { workspaceDir: join(base, "link") });
  expect(isWritable(areas, join(base, "real", "x"))).toBe(true);
});

test.each([
  [".git/hooks", true],
  [".git/hooks/pre-commit", true],
  [".git/config", true],
  [".GIT/CONFIG", true],
  [".git/modules/a/b/hooks/x", true],
  [".git/config.worktree", true],
  [".git/worktrees/w/commondir", true],
  ["sub/.git/config", true],
  [".git/HEAD", false],
  [".git/configs", false],
  ["hooks/x", false],
  ["a.git/config", false],
])("of git, hooks and configuration are guarded: %s", (path, guarded) => {
  expect(isGuardedGitPath(path)).toBe(guarded);
});
