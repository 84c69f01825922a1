import { mkdir } from "node:fs/promises";
import { expect, test } from "vitest";
import { fileWorkspace } from "../../../test/support/file-workspace.ts";
import { describeMissingPath } from "./describe-missing-path.ts";

test("a missing path names the deepest existing directory and at most eight names, nearest first", async () => {
  const workspace = await fileWorkspace();
  for (const name of ["index.ts", "indent.ts", "1", "2", "3", "4", "5", "6", "7", "8"]) {
    await workspace.write(`src/${name}`, "");
  }
  expect(await describeMissingPath(workspace.path("src/Index.tsx"))).toBe(
    `${workspace.path("src/Index.tsx")} does not exist; nearest in ${workspace.path("src")}: ` +
      "index.ts, indent.ts, 1, 2, 3, 4, 5, 6",
  );
});

test("a missing directory on the way is compared with its siblings", async () => {
  const workspace = await fileWorkspace();
  await workspace.write("src/a.ts", "");
  await workspace.write("docs/a.md", "");
  expect(await describeMissingPath(workspace.path("scr/deep/a.ts"))).toBe(
    `${workspace.path("scr/deep/a.ts")} does not exist; nearest in ${workspace.dir}: src/, docs/`,
  );
});

test("an empty directory is said to be empty", async () => {
  const workspace = await fileWorkspace();
  await mkdir(workspace.path("empty"));
  expect(await describeMissingPath(workspace.path("empty/a"))).toBe(
    `${workspace.path("empty/a")} does not exist; ${workspace.path("empty")} is empty`,
  );
});

test("a file on the way is said not to be a directory", async () => {
  const workspace = await fileWorkspace();
  await workspace.write("plain", "x");
  expect(await describeMissingPath(workspace.path("plain/b/c.txt"))).toBe(
    `${workspace.path("plain")} is a file, not a directory`,
  );
});
