import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

/** Makes a workspace of files, links and other things that tools stumble over, and the directories `outside` and `home` beside it. */
export function makeHostileWorkspace(parent: string): string {
  const workspace = join(parent, "workspace");
  const here = (name: string): string => join(workspace, name);
  for (const name of ["workspace/dir", "workspace/locked", "outside", "home"])
    mkdirSync(join(parent, name), { recursive: true });
  writeFileSync(join(parent, "outside/kept"), "one\ntwo\n");
  writeFileSync(here("a.txt"), "one\ntwo\nline\n".repeat(100));
  writeFileSync(here("crlf.txt"), "one\r\ntwo\r\nmixed\n");
  writeFileSync(here("latin1.txt"), Buffer.from("r\xe9sum\xe9 one\n", "latin1"));
  writeFileSync(here("utf16.txt"), Buffer.from("\ufeffone\ntwo\n", "utf16le"));
  writeFileSync(here("empty"), "");
  writeFileSync(here("binary"), Buffer.from([0, 1, 2, 255, 254, 10, 0]));
  writeFileSync(here("big.txt"), "a line of a long file\n".repeat(1_000_000));
  for (const form of ["NFC", "NFD"]) writeFileSync(here("é.txt".normalize(form)), `${form} one\n`);
  writeFileSync(here("line\nfeed"), "one\n");
  linkSync(here("a.txt"), here("twin"));
  const links = { link: "a.txt", out: "../outside/kept", dangling: "nowhere/x", loop: "loop", zero: "/dev/zero" };
  for (const [name, target] of Object.entries(links)) symlinkSync(target, here(name));
  execFileSync("mkfifo", [here("fifo")]);
  chmodSync(here("locked"), 0o555);
  return workspace;
}

/** Everything below a directory, by path: what it is, and of files their mode and content in short. */
export function fileTree(directory: string): Map<string, string> {
  const entries = readdirSync(directory, { recursive: true, encoding: "utf8" }).map((name) => join(directory, name));
  return new Map(entries.map((path) => [path, describe(path)]));
}

function describe(path: string): string {
  const stats = lstatSync(path);
  if (stats.isSymbolicLink()) return `link to ${readlinkSync(path)}`;
  const mode = stats.mode.toString(8);
  if (!stats.isFile()) return mode;
  return `${mode} ${createHash("sha256").update(readFileSync(path)).digest("hex")}`;
}
