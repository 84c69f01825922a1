import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { startupFilesState } from "./startup-files.ts";

let root: string;
let etc: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "rookery-startup-"));
  etc = join(root, "etc");
  await mkdir(join(etc, "profile.d"), { recursive: true });
});

test.each([
  ".bash_profile",
  ".bash_login",
  ".profile",
  ".bashrc",
  "bash-env",
  "etc/profile",
  "etc/bash.bashrc",
  "etc/bashrc",
  "etc/profile.d/one.sh",
])("%s is made, written, replaced and removed: each time the state is another", async (name) => {
  const path = join(root, name);
  const states: string[] = [];
  const look = (): unknown => states.push(startupFilesState({ HOME: root, BASH_ENV: join(root, "bash-env") }, etc));
  look();
  look();
  await writeFile(path, "A=1\n");
  look();
  await writeFile(path, "A=2\n");
  look();
  await writeFile(`${path}.new`, "A=2\n");
  await rename(`${path}.new`, path);
  look();
  await rm(path);
  look();
  expect(states[0]).toBe(states[1]);
  expect(states[5]).toBe(states[0]);
  expect(new Set(states).size).toBe(4);
});

test("what cannot be looked at counts as missing", () => {
  expect(startupFilesState({ HOME: join(root, "missing") }, join(root, "nowhere"))).toMatch(/^(- ?)+$/);
});
