import { chmod, mkdir, mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { expect, test } from "vitest";
import { findShell, scriptShell, shellCommand } from "./shell.ts";

test("a command is one argument of a login bash, as it was written (PT-091)", () => {
  const command = "cat <<'EOF'\nit's $HOME\nEOF\n# last";
  const { file, args } = shellCommand(command, process.env.PATH);
  expect(file).toMatch(/(^|\/)bash$/);
  expect(args).toEqual(["-lc", command]);
});

test("without /bin/bash the bash of the search path is taken, a file that cannot be executed is not", async () => {
  const directory = await mkdtemp(join(tmpdir(), "rookery-shell-"));
  const [plain, executable] = [join(directory, "plain"), join(directory, "executable")];
  for (const each of [plain, executable]) {
    await mkdir(each);
    await writeFile(join(each, "bash"), "#!/bin/sh\n");
  }
  await chmod(join(executable, "bash"), 0o755);
  expect(findShell([plain, executable].join(delimiter), "/nowhere/bash")).toBe(join(executable, "bash"));
});

test("without any bash the shell is sh", () => {
  expect(findShell(undefined, "/nowhere/bash")).toBe("sh");
  expect(findShell("/nowhere", "/nowhere/bash")).toBe("sh");
});

test("a shell that takes a script is a login bash too, and the command is what it takes (PT-091)", () => {
  const { file, args, script } = scriptShell("echo it", process.env.PATH);
  expect([file, args[0], script]).toEqual([expect.stringMatching(/\/bash$/), "-lc", "echo it"]);
  expect(args[1]).not.toContain("echo it");
});

test.each([{ platform: "win32" as const }, { file: "sh" }, { file: "/bin/dash" }])(
  "on Windows, and where the shell is no bash, the command is an argument: %j",
  (host) => {
    const { file } = { file: findShell(process.env.PATH), ...host };
    expect(scriptShell("echo it", process.env.PATH, host)).toEqual({ file, args: ["-lc", "echo it"] });
  },
);
