import { expect, test } from "vitest";
import { seatbeltProfile } from "./seatbelt.ts";

const areas = [
  { path: "/Users/me/app", writable: true },
  { path: "/Users/me/.rookery", writable: false },
  { path: '/Users/me/.rookery/a "b"/scratchpad', writable: true },
];

test("the profile of macOS forbids writing, then opens areas in their order, then closes git and secrets", () => {
  const profile = seatbeltProfile({ areas, network: "off", protectedPaths: ["/Users/me/.rookery/config.yaml"] });
  expect(profile.split("\n")).toEqual([
    "(version 1)",
    "(allow default)",
    "(deny file-write*)",
    '(allow file-write* (literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty") (regex #"^/dev/(ttys[0-9]+|fd/[0-9]+)$"))',
    '(allow file-write* (subpath "/Users/me/app"))',
    '(deny file-write* (subpath "/Users/me/.rookery"))',
    '(allow file-write* (subpath "/Users/me/.rookery/a \\"b\\"/scratchpad"))',
    '(deny file-write* (literal "/Users/me/app/.git"))',
    '(deny file-write* (subpath "/Users/me/app/.git/hooks") (literal "/Users/me/app/.git/config"))',
    '(deny file-write* (literal "/Users/me/.rookery/a \\"b\\"/scratchpad/.git"))',
    '(deny file-write* (subpath "/Users/me/.rookery/a \\"b\\"/scratchpad/.git/hooks") (literal "/Users/me/.rookery/a \\"b\\"/scratchpad/.git/config"))',
    '(deny file-read* file-write* (subpath "/Users/me/.rookery/config.yaml"))',
    "(deny network*)",
    "",
  ]);
});

test("with a network nothing is said of it", () => {
  expect(seatbeltProfile({ areas, network: "on", protectedPaths: [] })).not.toContain("network");
});
