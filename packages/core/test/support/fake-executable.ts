import { chmod, mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** Prints what it was started with as one line of JSON: `argv` without its own name, `cwd`, `env`. */
const REPORT = `#!${process.execPath}
const { argv, env } = process;
console.log(JSON.stringify({ self: argv[1], argv: argv.slice(2), cwd: process.cwd(), env }));
`;

/** A directory with executables of these names, gone when the test has ended. */
export async function executables(names: readonly string[], text: string = REPORT): Promise<string> {
  const directory = await realpath(await mkdtemp(join(tmpdir(), "executables-test-")));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  for (const name of names) await putExecutable(join(directory, name), text);
  return directory;
}

export async function putExecutable(path: string, text: string = REPORT): Promise<void> {
  await mkdir(join(path, ".."), { recursive: true });
  await writeFile(path, text);
  await chmod(path, 0o755);
}
