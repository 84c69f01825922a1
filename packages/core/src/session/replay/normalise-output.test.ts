import { expect, test } from "vitest";
import { outputNormaliser } from "./normalise-output.ts";

const normalise = outputNormaliser({
  workspaceDirs: ["/home/me/app", "/real/app"],
  agentDir: "/home/me/.rookery/p/agents/a",
});

test.each([
  [
    "in /home/me/app, /real/app/src/a.js:3:15 and /home/me/app",
    "in <workspace>, <workspace>/src/a.js:3:15 and <workspace>",
  ],
  ["file:///home/me/app/a.js", "file://<workspace>/a.js"],
  ["/home/me/app-2 and /home/me/apple and /mnt/home/me/app", "/home/me/app-2 and /home/me/apple and /mnt/home/me/app"],
  ["/home/me/.rookery/p/agents/a/scratchpad/x.log", "<agent>/scratchpad/x.log"],
  ["/tmp/tmp.Xa81/deep/file and /private/tmp/x", "<temporary>/deep/file and <temporary>"],
  ["/var/folders/zz/zyx_1/T/rookery-1/a", "<temporary>/a"],
  ["session-2026-01-02-03-04-05-0a1b2c3d", "<session>"],
  ["6f1c2a00-1d2e-4f5a-8b9c-0123456789ab", "<uuid>"],
  ["2026-01-02T03:04:05.678Z, 2026-01-02 03:04, 2026-01-02", "<time>, <time>, <time>"],
  ["Mon Nov 30 00:43:11 UTC 2026", "<time>"],
  ["Mon, 30 Nov 2026 00:43:11 GMT", "<time>"],
  [
    "-rw-r--r-- 1 me me 12 Nov 30 00:42 a\n-rw-r--r-- 1 me me 12 Nov  3  2026 b",
    "-rw-r--r-- <links> <owner> 12 <time> a\n-rw-r--r-- <links> <owner> 12 <time> b",
  ],
  [
    "total 16K\ndrwx------ 2 root root   40 Nov 30 00:42 .\ndrwxrwxrwt. 31 root root 4096 Nov 30 00:42 ..\ndrwxr-xr-x  3 me staff  96 Nov  3  2026 src",
    "total <blocks>\n<directory> .\n<directory> ..\ndrwxr-xr-x <links> <owner> <size> <time> src",
  ],
  [
    "1234567 4 -rwxr-xr-x  1 me  wheel  1.2K 2026-11-30 00:42 a b\n    12   0 lrwxrwxrwx 1 me me 7 Nov 30 00:42 l -> /home/me/app/a",
    "-rwxr-xr-x <links> <owner> 1.2K <time> a b\nlrwxrwxrwx <links> <owner> <size> <time> l -> <workspace>/a",
  ],
  ["crw-rw-rw- 1 root root 1,   3 Nov 30 00:42 null", "crw-rw-rw- <links> <owner> 1,   3 <time> null"],
  ["Device: 8,1\tInode: 131090      Links: 1", "Device: <file system>\tInode: <file system>      Links: <file system>"],
  ["at 13:01:59.123", "at <time>"],
  ["1767323045678", "<time>"],
  ["took 12.5 ms, 3s, 1 minute", "took <duration>, <duration>, <duration>"],
  ["# duration_ms 48.1234\nduration_ms: 2", "# duration_ms <duration>\nduration_ms: <duration>"],
  ["real 0m0.003s", "real <duration>"],
  ["pid 4711, process 12, (node:99) Warning\n[1] 4711", "pid <pid>, process <pid>, (node:<pid>) Warning\n[1] <pid>"],
  [
    "http://localhost:41234/x 127.0.0.1:80 [::1]:443 port 8080",
    "http://localhost:<port>/x 127.0.0.1:<port> [::1]:<port> port <port>",
  ],
  ["commit 9f8c2ab, 0x7ffe, call_9aF-3x12", "commit <hex>, <hex>, <call>"],
])("%j becomes %j", (output, expected) => {
  expect(normalise(output)).toBe(expected);
});

test.each([
  "12 of 15 tests pass",
  "src/a.js:10:22",
  "effaced 12345678 facade",
  "version 1.2.3, 5 items",
  "ports and processes",
  "total 12",
  "-rw-r--r-- is a mode",
])("%j says something and stays", (output) => {
  expect(normalise(output)).toBe(output);
});

test("what the caller ignores is taken out wherever it stands, and first", () => {
  const ignoring = outputNormaliser({ workspaceDirs: [], agentDir: "/a" }, [/build \d+/]);
  expect(ignoring("build 1 and build 22 of 3")).toBe("<ignored> and <ignored> of 3");
});

test("a root as a workspace replaces nothing", () => {
  expect(outputNormaliser({ workspaceDirs: ["/"], agentDir: "/" })("a/b /c")).toBe("a/b /c");
});

test("long outputs of one sort of character are read to their end", () => {
  for (const piece of ["a", "1", ":", " ", "/tmp/", "a1", "1:", "[", "Jan 1 ", "-rw-r--r-- 1 ", "1 1 "]) {
    expect(normalise(piece.repeat(100_000)).length).toBeGreaterThan(0);
  }
});
