import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { VERSION } from "./version.ts";

test("the version is that of the package", async () => {
  const manifest = JSON.parse(await readFile(new URL("../package.json", import.meta.url), "utf8"));
  expect(VERSION).toBe(manifest.version);
});
