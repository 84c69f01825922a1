import { mkdir, mkdtemp, readdir, realpath, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openWorkspace } from "./workspace.ts";

let root: string;
beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), "rookery-workspace-")));
});
afterEach(() => rm(root, { recursive: true }));

test("a workspace goes by its real path, given or fresh, behind whatever links", async () => {
  await mkdir(join(root, "real"));
  await symlink(join(root, "real"), join(root, "link"));
  expect((await openWorkspace(join(root, "link"), root)).path).toBe(join(root, "real"));
  const fresh = await openWorkspace(undefined, join(root, "link"));
  expect(await readdir(join(root, "real"))).toEqual([fresh.path.slice(join(root, "real/").length)]);
  await fresh.abandon();
  expect(await readdir(join(root, "real"))).toEqual([]);
});
