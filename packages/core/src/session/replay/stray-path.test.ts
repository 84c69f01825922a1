import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join, relative } from "node:path";
import { afterAll, expect, test } from "vitest";
import { strayPath } from "./stray-path.ts";

const root = realpathSync(mkdtempSync(join(tmpdir(), "rookery-stray-")));
const [old, link, here] = [join(root, "it's old"), join(root, "link"), join(root, "here")];
mkdirSync(old);
mkdirSync(here);
symlinkSync(old, link);
afterAll(() => rmSync(root, { recursive: true }));

test.each([
  ["as it is", `cat '${old}/a'`],
  ["escaped", `cat ${old.replaceAll(/[' ]/g, "\\$&")}/a`],
  ["quoted in part", `cat ${root}/it"'s "old/a`],
  ["behind a link", `cat ${link}/a`],
  ["behind a link, in quotes, by an option", `cc -I'${link}'`],
  ["with more strokes", `cat ${root}//./link/a`],
  ["as a way up", `cat ../link/a`],
  ["below the home directory", `cat ~/${relative(homedir(), link)}/a`],
  ["below $HOME", `cat "$HOME"/${relative(homedir(), link)}/a`],
])("the recorded workspace is found in a command %s", async (_how, cmd) => {
  expect(await stray({ cmd })).toMatch(/it's old/);
});

test("it is found in keys, in deep values and in arguments nested too deep to walk", async () => {
  expect(await stray({ files: { [`${link}/a`]: 1 } })).toBe(join(old, "a"));
  const deep = `${'{"a":'.repeat(100_000)}"${link}/a"${"}".repeat(100_000)}`;
  expect(await strayPath({ name: "probe", arguments: deep }, {}, { from: [old], to: here })).toBe(join(old, "a"));
});

test("a path that a tool declares counts, wherever it came from", async () => {
  const move = { from: [old], to: here };
  expect(await strayPath({ name: "read_file", arguments: "{}" }, { read: [join(old, "a")] }, move)).toBe(
    join(old, "a"),
  );
});

test.each([
  `cat ${root}/here/a ../here/b ../other/it's /etc/hosts`,
  `cat "${root}/it's old2/a" ${root}/link2`,
  "cat x/link src/../link",
])("a call that keeps out is none: %s", async (cmd) => {
  expect(await stray({ cmd })).toBe(undefined);
});

test("what a file holds is not looked at, and nothing is stray where a session is replayed in its own place", async () => {
  const content = { name: "write_file", arguments: JSON.stringify({ content: link }) };
  expect(await strayPath(content, {}, { from: [old], to: here })).toBe(undefined);
  const call = { name: "probe", arguments: JSON.stringify({ path: link }) };
  expect(await strayPath(call, {}, { from: [link, old], to: old })).toBe(undefined);
  expect(await strayPath(call, {}, { from: ["/"], to: here })).toBe(undefined);
});

test("a new workspace inside the recorded one, or around it, is the new one", async () => {
  const inside = join(old, "deep");
  expect(await stray({ cmd: `cat "${inside}/a"` }, inside)).toBe(undefined);
  expect(await stray({ cmd: `cat "${old}/a"` }, inside)).toBe(join(root, "it's old"));
  expect(await strayPath({ name: "probe", arguments: `["${link}/a"]` }, {}, { from: [old], to: root })).toBe(undefined);
});

function stray(args: object, to = here): Promise<string | undefined> {
  return strayPath({ name: "exec_command", arguments: JSON.stringify(args) }, {}, { from: [old], to });
}
