import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { toolsetDefinitions } from "../src/environment/toolset-registry.ts";
import { src } from "./support/imports.ts";

const names = ["standard", "minimal"].flatMap((toolset) => toolsetDefinitions(toolset).map(({ name }) => name));

/** A name that is no word of its own wherever it stands; a plain word where it is a tool's name or is compared. */
const NAMED = new RegExp(
  `\\b(?:${[...names.filter((name) => name.includes("_")), "read_skill"].join("|")})\\b|` +
    `(?:name|tool)\\w*\\b[^\\n]*?(?:[!=]==?|:) *["'\`](?:${names.filter((name) => !name.includes("_")).join("|")})["'\`]`,
  "i",
);

test("loop, decisions and terminal hold no code for a tool by its name (PE-054)", () => {
  const folders = [join(src, "engine"), join(src, "approval"), resolve(src, "../../cli/src")];
  const files = folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((file) => /(?<!\.test)\.ts$/.test(file))
      .map((file) => join(folder, file)),
  );
  expect(files.length).toBeGreaterThan(50);
  expect(files.filter((file) => NAMED.test(readFileSync(file, "utf8")))).toEqual([]);
});

test.for([
  'if (toolName === "bash") return;',
  'if (call.name == "read") return;',
  'const shown = { name: "edit" };',
  "case `exec_command`:",
])("%s would be found", (line) => {
  expect(NAMED.test(line)).toBe(true);
});
