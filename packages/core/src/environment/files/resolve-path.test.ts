import { mkdir, symlink } from "node:fs/promises";
import { expect, test } from "vitest";
import { fileWorkspace } from "../../../test/support/file-workspace.ts";
import { resolvePath } from "./resolve-path.ts";

test("a relative path resolves against the workspace and an absolute one stands (PT-112, PT-113)", async () => {
  const workspace = await fileWorkspace();
  expect(await resolvePath(workspace.dir, "a/../b.txt")).toBe(workspace.path("b.txt"));
  expect(await resolvePath("/", workspace.path("b.txt"))).toBe(workspace.path("b.txt"));
});

test("links are followed for what exists, for what does not, and for dangling links", async () => {
  const workspace = await fileWorkspace();
  await mkdir(workspace.path("real"));
  await symlink("real", workspace.path("box"));
  await symlink("box/new.txt", workspace.path("dangling"));
  expect(await resolvePath(workspace.dir, "box")).toBe(workspace.path("real"));
  expect(await resolvePath(workspace.dir, "box/deep/new.txt")).toBe(workspace.path("real/deep/new.txt"));
  expect(await resolvePath(workspace.dir, "dangling")).toBe(workspace.path("real/new.txt"));
});

test("a path below a file keeps its spelling", async () => {
  const workspace = await fileWorkspace();
  await workspace.write("plain", "x");
  expect(await resolvePath(workspace.dir, "plain/b.txt")).toBe(workspace.path("plain/b.txt"));
});

test("a link loop and a NUL character are errors", async () => {
  const workspace = await fileWorkspace();
  await symlink("loop", workspace.path("loop"));
  await expect(resolvePath(workspace.dir, "loop/a")).rejects.toMatchObject({ code: "ELOOP" });
  await expect(resolvePath(workspace.dir, "a\0b")).rejects.toThrow("the path holds a NUL character; give it without");
});
