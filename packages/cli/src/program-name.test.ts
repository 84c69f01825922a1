import { expect, test } from "vitest";
import { programName } from "./program-name.ts";

test.each([
  ["/usr/local/bin/rookery", "/home/me", "rookery"],
  [undefined, "/home/me", "rookery"],
  ["/home/me/clone/packages/cli/dist/rookery.js", "/home/me/clone", "node packages/cli/dist/rookery.js"],
  ["/opt/r/rookery.js", "/home/me/a/b/c/d", "node /opt/r/rookery.js"],
  ["/home/it's me/rookery.js", "/", "node 'home/it'\\''s me/rookery.js'"],
])("%s, called in %s, is called again as %s", (script, cwd, name) => {
  expect(programName(script, cwd)).toBe(name);
});
