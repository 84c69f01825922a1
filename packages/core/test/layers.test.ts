import { expect, test } from "vitest";
import { folderOf, type Import, importsIn, sourceImports } from "./support/imports.ts";

// Low to high: a folder may import from rows above it. Folders of one row do not know each other.
const rows: readonly (readonly string[])[] = [
  ["errors"],
  ["omnimessage"],
  ["approval", "trace", "llm"],
  ["environment"],
  ["engine"],
  ["session"],
  ["agent"],
];
const imports = sourceImports();
const ownImports = imports.filter(({ target }) => target.endsWith(".ts"));

test("every way to import is seen, and comments are not", () => {
  const text = `
    import "./a.ts";
    import type { B } from "./b.ts";
    export { c } from "./c.ts";
    export * from "./d.ts";
    import {
      e,
    } from "./e.ts";
    const f = await import("./f.ts");
    const g: import("./g.ts").G = 1;
    const h = await import(
      "./h.ts"
    );
    // import "./comment.ts";
    /** from "./docstring.ts" */
     * import { x } from "./example.ts";
  `;
  expect(importsIn(text)).toEqual([..."abcdefgh"].map((letter) => `./${letter}.ts`));
  expect(ownImports.length).toBeGreaterThan(0);
});

test("imports point down the layers", () => {
  const upward = ownImports.filter(
    ({ file, target }) => folderOf(file) !== folderOf(target) && row(target) >= row(file),
  );
  expect(shown(upward)).toEqual([]);
});

test("nothing but itself imports testing", () => {
  const toTesting = ownImports.filter(
    ({ file, target }) => folderOf(target) === "testing" && folderOf(file) !== "testing",
  );
  expect(shown(toTesting)).toEqual([]);
});

test("the engine imports the interfaces of model, environment and person, and nothing that implements them (PC-001)", () => {
  const beyond = imports
    .filter(({ file }) => folderOf(file) === "engine")
    .filter(({ target }) => !/^(engine|errors|omnimessage)\//.test(target))
    .filter(({ target }) => !["approval/contract.ts", "environment/contract.ts", "llm/contract.ts"].includes(target))
    // Pure functions that give both sides one wording.
    .filter(
      ({ target }) =>
        !["json-details", "parse-arguments", "unknown-tool"].map((name) => `environment/${name}.ts`).includes(target),
    );
  expect(shown(beyond)).toEqual([]);
});

test("a provider's package is imported by its adapter only, and the packages' common interface within llm only (PC-002)", () => {
  const fromPackages = imports.filter(({ target }) => target.startsWith("@ai-sdk/"));
  const misplaced = fromPackages.filter(({ file, target }) => {
    return !file.startsWith(target === "@ai-sdk/provider" ? "llm/" : "llm/providers/");
  });
  expect(shown(misplaced)).toEqual([]);
});

// Everything else (index.ts, testing/) stands over every row.
function row(file: string): number {
  const index = rows.findIndex((names) => names.includes(folderOf(file)));
  return index === -1 ? rows.length : index;
}

function shown(list: readonly Import[]): string[] {
  return list.map(({ file, target }) => `${file} -> ${target}`);
}
