import { spawn } from "node:child_process";

/** What became of a project's tests. */
export interface TestResult {
  readonly pass: number;
  readonly fail: number;
  /** All ran, and none failed. */
  readonly ok: boolean;
}

/** Runs the tests of a Node project in a process of their own, which ends with the signal. Never throws. */
export async function runProjectTests(
  directory: string,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<TestResult> {
  // A test runner around this process would make the new one report to it.
  const { NODE_OPTIONS: _options, NODE_TEST_CONTEXT: _context, ...plain } = env;
  const child = spawn(process.execPath, ["--test", "--test-reporter=tap"], {
    cwd: directory,
    env: plain,
    stdio: ["ignore", "pipe", "ignore"],
    signal,
  });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  const exitCode = await new Promise<number | null>((resolve) => {
    child.on("error", () => resolve(null)).on("close", resolve);
  });
  const count = (word: string): number => Number(new RegExp(`^# ${word} (\\d+)$`, "m").exec(output)?.[1] ?? 0);
  const [pass, fail] = [count("pass"), count("fail")];
  return { pass, fail, ok: exitCode === 0 && pass > 0 && fail === 0 };
}
