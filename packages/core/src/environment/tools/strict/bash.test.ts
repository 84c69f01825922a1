import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { toolsetCalls } from "../../../../test/support/toolset-calls.ts";
import { bash } from "./bash.ts";

test("a command runs under /bin/bash -lc in the workspace, one argument as it is written (PE-022)", async () => {
  const { dir, call } = await toolsetCalls("strict");
  const command = "tr '\\0' '\\n' </proc/$$/cmdline >args; pwd; shopt -q login_shell && echo login; echo $BASH";
  const { output, details } = await call("bash", { command });
  expect(output).toMatch(new RegExp(`^${dir}\nlogin\n/bin/bash\n\\[exit code 0\\]$`));
  if (process.platform === "linux") {
    expect(await readFile(join(dir, "args"), "utf8")).toBe(`/bin/bash\n-lc\n${command}\n`);
  }
  expect(details).toMatchObject({ command, cwd: dir, exitCode: 0, signal: null });
});

test("the result holds the exit status and both streams in one, cut at both sides of a marker (PE-024)", async () => {
  const { call } = await toolsetCalls("strict");
  expect(await call("bash", { command: "echo out; echo err >&2; exit 3" })).toMatchObject({
    output: expect.stringMatching(/^(out\nerr|err\nout)\n\[exit code 3\]$/),
    stopReason: "failed",
    details: { exitCode: 3 },
  });
  expect((await call("bash", { command: "kill -9 $$" })).output).toBe("[killed by SIGKILL]");
  const { output } = await call("bash", { command: "seq 1 20000" });
  expect(output).toMatch(
    /^1\n2\n[\d\n]+\[\.\.\. \d+ characters omitted \.\.\.\]\n[\d\n]+20000\n(\[.*\]\n)?\[exit code 0\]$/,
  );
  expect(output.length).toBeLessThan(16_200);
});

test("timeout_seconds ends a call before the configured maximum, which a longer one does not change (PE-023)", async () => {
  const shipped = await toolsetCalls("strict");
  expect(await shipped.call("bash", { command: "sleep 60", timeout_seconds: 0.2 })).toMatchObject({
    output: "[timed out after 0.2 s]",
    stopReason: "timeout",
  });
  const toolConfig = { customTools: [{ ...bash.definition, timeoutMs: 300 }], mcpServers: [] };
  const short = await toolsetCalls("strict", { toolConfig });
  expect(await short.call("bash", { command: "sleep 60", timeout_seconds: 3600 })).toMatchObject({
    output: "[timed out after 0.3 s]",
    stopReason: "timeout",
  });
  expect((await short.assess("bash", { command: "make", timeout_seconds: 3600 })).summary).toBe("make");
});

test.for([
  [{}, "command: is required and missing"],
  [{ command: "true", timeout_seconds: 0 }, "timeout_seconds: must be > 0, got 0"],
  [{ command: "true", timeout_seconds: "soon" }, 'timeout_seconds: must be a number, got "soon"'],
  [{ command: " " }, "command is empty; give the shell command to run"],
  [{ command: "a\0b" }, "command holds a NUL byte, which no command can"],
] as const)("%j is not run, and says why (PE-001, PE-023)", async ([args, problem]) => {
  const { output, stopReason } = await (await toolsetCalls("strict")).call("bash", args);
  expect([output.includes(problem), stopReason]).toEqual([true, "failed"]);
});

test("a shell has risk process, and its command is what rules are compared with (PE-025)", async () => {
  const { assess } = await toolsetCalls("strict");
  expect(await assess("bash", { command: "git push", timeout_seconds: 5 })).toMatchObject({
    risk: "process",
    summary: "git push\nfor at most 5 s",
    commandText: "git push",
  });
});

test("values of the vault are in the environment and not in the output", async () => {
  const { dir, call } = await toolsetCalls("strict", { vault: { TOKEN: "hunter2hunter2" } });
  await writeFile(join(dir, "s.sh"), "echo $TOKEN");
  expect((await call("bash", { command: ". ./s.sh" })).output).toBe("[vault:TOKEN]\n[exit code 0]");
});
