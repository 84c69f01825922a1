import { execFileSync } from "node:child_process";
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readUserConfig, type UserConfig } from "./user-config.ts";

async function config(
  text?: string,
  mode = 0o600,
): Promise<{ file: string; warnings: string[]; read(): Promise<UserConfig> }> {
  const directory = await mkdtemp(join(tmpdir(), "user-config-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const file = join(directory, "config.yaml");
  if (text !== undefined) {
    await writeFile(file, text);
    await chmod(file, mode);
  }
  const warnings: string[] = [];
  return { file, warnings, read: () => readUserConfig(file, ({ message }) => warnings.push(message)) };
}

test("a missing and an empty file say nothing; agents are read as they are written", async () => {
  expect(await (await config()).read()).toEqual({});
  expect(await (await config("# nothing yet\n")).read()).toEqual({});
  const { read, warnings } = await config(
    "native_agents:\n  claude: { executable: claude, args: [-p] }\n  pi: { executable: /opt/pi }\n",
  );
  expect(await read()).toEqual({
    native_agents: { claude: { executable: "claude", args: ["-p"] }, pi: { executable: "/opt/pi" } },
  });
  expect(warnings).toEqual([]);
});

test.for([
  ["native_agent: {}", "1: native_agent is not a known key"],
  ["native_agents: [claude]", '1: native_agents must be an object, got ["claude"]'],
  ["native_agents:\n  claude: { args: [-p] }", "2: native_agents.claude.executable is missing"],
  [
    "native_agents:\n  claude:\n    executable: claude\n    arg: [-p]",
    "4: native_agents.claude.arg is not a known key",
  ],
  [
    "native_agents:\n  claude: { executable: claude, args: -p }",
    '2: native_agents.claude.args must be a list, got "-p"',
  ],
  [
    "native_agents:\n  ok: { executable: a }\n  my agent: { executable: a }",
    "3: native_agents.my agent is no name for a tool",
  ],
  ["native_agents:\n  ok: { executable: a }\n  a.b: { executable: a }", "3: native_agents.a.b is no name for a tool"],
  [
    `native_agents:\n  ${"x".repeat(59)}: { executable: a }`,
    "is no name for a tool; use up to 58 letters, digits, _ and -",
  ],
  ['native_agents:\n  a:\n    executable: ""', "3: native_agents.a.executable must be a name that is found in PATH"],
  [
    "native_agents:\n  a:\n    executable: ./a",
    "3: native_agents.a.executable must be a name that is found in PATH, or an absolute path",
  ],
  ["native_agents:\n  a:\n    executable: bin/a", "3: native_agents.a.executable must be"],
  ['native_agents:\n  a:\n    executable: a\n    args: [x, "\\0"]', "4: native_agents.a.args.1 holds a NUL character"],
  ["native_agents: {", "not valid YAML"],
] as const)("%j is an error that names the file and the line", async ([text, problem]) => {
  const { file, read } = await config(text);
  await expect(read()).rejects.toMatchObject({ code: "config-invalid", message: expect.stringContaining(file) });
  await expect(read()).rejects.toThrow(problem);
});

test("an unknown key of an agent is answered with the known ones", async () => {
  const { read } = await config("native_agents:\n  a: { exec: a }\n");
  await expect(read()).rejects.toMatchObject({ hint: "use one of executable, args" });
});

test("a file that is there and cannot be read is an error, and none that says nothing", async () => {
  const { file, read } = await config();
  await symlink("config.yaml", file);
  await expect(read()).rejects.toThrow(`cannot read ${file}: ELOOP`);
  await rm(file);
  await mkdir(file);
  await expect(read()).rejects.toThrow(`cannot read ${file}: EISDIR`);
  await rm(file, { recursive: true });
  await symlink("elsewhere", file);
  expect(await read()).toEqual({});
});

test.skipIf(process.platform === "win32")("nobody waits for a FIFO in the place of the file", async () => {
  const { file, read } = await config();
  execFileSync("mkfifo", [file]);
  await expect(read()).rejects.toThrow(`cannot read ${file}: it is not a regular file`);
});

test("a file that others may write to is read with a warning", async () => {
  const { file, read, warnings } = await config("native_agents: {}\n", 0o664);
  await read();
  expect(warnings).toEqual([`others may write to ${file}; take that right away: chmod go-w`]);
});
