import { mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { executables, putExecutable } from "../../../test/support/fake-executable.ts";
import { type ToolsetCalls, toolsetCalls } from "../../../test/support/toolset-calls.ts";
import { ProcessRegistry } from "../../environment/process/process-registry.ts";
import type { AgentSettings } from "./agent-settings.ts";
import { agentSource } from "./agent-source.ts";

interface Options {
  readonly which?: "configured" | "shipped";
  readonly configured?: Readonly<Record<string, AgentSettings>>;
  readonly env?: NodeJS.ProcessEnv;
}

/** The tools of a source, in the workspace of an environment. */
async function agents({ which = "configured", configured = {}, env = {} }: Options): Promise<ToolsetCalls> {
  const commandSessions = new ProcessRegistry();
  const host = { commandSessions, env, configFile: "/root/config.yaml" };
  return await toolsetCalls("strict", {
    toolConfig: { customTools: [], mcpServers: [] },
    toolSources: [agentSource(which, configured, host)],
    services: { commandSessions },
  });
}

interface Report {
  readonly self: string;
  readonly argv: string[];
  readonly cwd: string;
  readonly env: Record<string, string>;
}

function reportIn(output: string): Report {
  return JSON.parse(output.split("\n")[0] ?? "");
}

test("the three agents share one schema and are started as claude -p, codex exec and pi -p (PE-034, PE-042, PE-043, PE-044)", async () => {
  const PATH = await executables(["claude", "codex", "pi"]);
  const { environment, call } = await agents({ which: "shipped", env: { PATH } });
  const tools = await environment.listTools();
  expect(tools.map(({ name }) => name)).toEqual(["agent_claude", "agent_codex", "agent_pi"]);
  for (const { parameters } of tools) {
    expect(parameters).toEqual(tools[0]?.parameters);
    expect([Object.keys(parameters.properties as object), parameters.required]).toEqual([
      ["prompt", "timeout_seconds"],
      ["prompt"],
    ]);
  }
  const argvOf = async (name: string) => {
    const { self, argv } = reportIn((await call(`agent_${name}`, { prompt: "Review it." })).output);
    return [self, ...argv];
  };
  expect(await argvOf("claude")).toEqual([join(PATH, "claude"), "-p", "Review it."]);
  expect(await argvOf("codex")).toEqual([join(PATH, "codex"), "exec", "Review it."]);
  expect(await argvOf("pi")).toEqual([join(PATH, "pi"), "-p", "Review it."]);
});

test("an agent runs in the workspace with the host's whole environment, and nothing of the call but the prompt reaches it (PE-035, PE-038, PE-039, PE-049)", async () => {
  const PATH = await executables(["fake"]);
  const env = { PATH, OPENAI_API_KEY: "sk-1", ROOKERY_HOME: "/r", UNSET: undefined };
  const { dir, call } = await agents({ configured: { fake: { executable: "fake", args: ["--fixed", "a b"] } }, env });
  const args = { prompt: "do it", args: ["--yolo"], executable: "/bin/false", cwd: "/", env: { X: "1" }, flags: "-x" };
  const { output, stopReason, details } = await call("agent_fake", args);
  const report = reportIn(output);
  expect(report).toMatchObject({ argv: ["--fixed", "a b", "do it"], cwd: dir });
  const { ROOKERY_PROCESS: marker, ...rest } = report.env;
  expect([rest, marker]).toEqual([{ PATH, OPENAI_API_KEY: "sk-1", ROOKERY_HOME: "/r" }, expect.any(String)]);
  expect([output.endsWith("\n[exit code 0]"), stopReason]).toEqual([true, "completed"]);
  expect(details).toMatchObject({ command: `"${join(PATH, "fake")}" "--fixed" "a b"`, cwd: dir, exitCode: 0 });
});

const PROMPTS = [
  "  blanks, at   both ends  ",
  "--dangerously-skip-permissions",
  "-",
  "two\nlines\r\n\ttab\n",
  `"double" 'single' \`tick\` \\back`,
  "$HOME $(id) `id` ; rm -rf / & | > x * ? ~ {a,b} !!",
  "%PATH% ^& \u0007\u001b[31m \u202e é 漢 😀",
];

test("any prompt without NUL arrives as exactly one argument, as it was given, no shell having read it (PE-036, PE-037, PE-049)", async () => {
  const report = 'printf "%s:%s:" "$#" "$1"; printf "%s" "$2" | od -An -v -tx1 | tr -d " \\n"';
  const bin = await executables(["fake"], `#!/bin/sh\n${report}\n`);
  const PATH = [bin, "/usr/bin", "/bin"].join(delimiter);
  const { call } = await agents({ configured: { fake: { executable: "fake", args: ["-p"] } }, env: { PATH } });
  const prompts = fc.string({ unit: "binary", minLength: 1, maxLength: 30 }).filter((text) => text.trim() !== "");
  await fc.assert(
    fc.asyncProperty(
      prompts.map((text) => text.replaceAll("\0", "0")),
      async (prompt) => {
        const { output } = await call("agent_fake", { prompt });
        expect(output).toBe(`2:-p:${Buffer.from(prompt).toString("hex")}\n[exit code 0]`);
      },
    ),
    { numRuns: 15, examples: PROMPTS.map((prompt) => [prompt]) },
  );
});

test.for([
  [{}, "prompt: is required and missing"],
  [{ prompt: 1 }, "prompt: must be a string, got 1"],
  [{ prompt: " \n" }, "agent_fake was not run: prompt is empty; say what the agent is to do"],
  [{ prompt: "a\0b" }, "prompt holds a NUL character, which no argument can; give it without"],
  [{ prompt: "a", timeout_seconds: -1 }, "timeout_seconds: must be > 0, got -1"],
  ["[]", "the arguments of agent_fake must be a JSON object"],
] as const)("%j is not run, and says why (PE-001, PE-034)", async ([args, problem]) => {
  const PATH = await executables(["fake"]);
  const { assess, call } = await agents({ configured: { fake: { executable: "fake" } }, env: { PATH } });
  expect((await assess("agent_fake", args)).error).toContain(problem);
  expect(await call("agent_fake", args)).toMatchObject({ stopReason: "failed" });
});

test("a prompt that is longer than the system takes is told to be put into a file", async () => {
  const PATH = await executables(["fake"]);
  const { call } = await agents({ configured: { fake: { executable: "fake" } }, env: { PATH } });
  const { output, stopReason } = await call("agent_fake", { prompt: "x".repeat(8 * 1024 * 1024) });
  expect([output, stopReason]).toEqual([
    `cannot start ${join(PATH, "fake")}: arguments and environment are too long; pass long text in a file`,
    "failed",
  ]);
});

test("before approval the program is found in the host's PATH; the person sees it with its arguments, prompt, workspace and a warning (PE-041, PE-045, PE-046, PE-047)", async () => {
  const [first, second] = [await executables([]), await executables(["fake"])];
  await mkdir(join(first, "fake"));
  await putExecutable(join(first, "real/fake.js"));
  await symlink(join(first, "real/fake.js"), join(second, "other"));
  const env = { PATH: ["", ".", "relative", first, second].join(delimiter) };
  const args = ["-p", 'a "b"', "", "\u001b[2J\u202e\nnext"];
  const configured = { fake: { executable: "fake", args }, other: { executable: join(second, "other") } };
  const { dir, assess } = await agents({ configured, env });
  expect(await assess("agent_fake", { prompt: "Review\nthe \u001b[2Jerror handling" })).toMatchObject({
    risk: "delegate",
    executionMode: "parallel",
    summary: [
      `start the agent fake: "${second}/fake" "-p" "a \\"b\\"" "" "\\u001b[2J\\u{202e}\\nnext" PROMPT`,
      `in "${dir}"`,
      "PROMPT, 29 bytes:",
      "> Review",
      "> the \\u{1b}[2Jerror handling",
      "warning: the agent decides for itself what it does; it may read, write and run anything with your rights and credentials",
    ].join("\n"),
  });
  const assessment = await assess("agent_other", { prompt: "-x".repeat(5000) });
  expect(assessment.commandText).toBeUndefined();
  expect(assessment.summary.split("\n").slice(0, 5)).toEqual([
    `start the agent other: "${second}/other" PROMPT`,
    `which leads to "${first}/real/fake.js"`,
    `in "${dir}"`,
    "PROMPT, 10000 bytes:",
    `> ${"-x".repeat(60)}…`,
  ]);
  expect(assessment.summary).toContain("\nit begins with a dash: the agent may take it for an option\n");
  expect(assessment.summary.length).toBeLessThan(1000);
});

test("an agent that is not there is a call that cannot run, saying what was looked for and where it is configured (PE-045)", async () => {
  const directory = await executables([]);
  await writeFile(join(directory, "plain"), "x");
  const configured = {
    none: { executable: "plain" },
    gone: { executable: join(directory, "plain") },
  };
  const { assess, call } = await agents({ configured, env: { PATH: directory } });
  const advice = (name: string): string =>
    `install it, or name another as native_agents.${name}.executable in /root/config.yaml`;
  const problem = `agent_none was not run: there is no program "plain" in the directories of PATH; ${advice("none")}`;
  expect(await assess("agent_none", { prompt: "hi" })).toMatchObject({ error: problem, risk: "delegate" });
  expect(await call("agent_none", { prompt: "hi" })).toMatchObject({ output: problem, stopReason: "failed" });
  expect((await assess("agent_gone", { prompt: "hi" })).error).toBe(
    `agent_gone was not run: there is no program that may be run at "${directory}/plain"; ${advice("gone")}`,
  );
});

test("a program that is replaced, changed, hidden or removed after it was shown is not run (PE-035, PE-046)", async () => {
  const [first, second] = [await executables([]), await executables(["fake"])];
  const env = { PATH: [first, second].join(delimiter) };
  const { assess, call } = await agents({ configured: { fake: { executable: "fake" } }, env });
  const args = { prompt: "hi" };
  const approved = async (change: () => Promise<unknown>): Promise<string> => {
    const assessment = await assess("agent_fake", args);
    await change();
    const { output, stopReason } = await call("agent_fake", args, { assessment });
    expect(stopReason).toBe("failed");
    return output;
  };
  const another = (path: string): string =>
    `agent_fake was not run: ${path} is not the program any more that was shown for approval; call again`;
  expect(await approved(() => putExecutable(join(second, "fake"), "#!/bin/sh\necho other\n"))).toBe(
    another(join(second, "fake")),
  );
  expect(await approved(() => putExecutable(join(first, "fake")))).toBe(another(join(first, "fake")));
  const removed = await approved(async () => {
    await rm(join(first, "fake"));
    await rm(join(second, "fake"));
  });
  expect(removed).toContain('there is no program "fake" in the directories of PATH');
});

test("a configured agent takes the place of the shipped one of its name, or joins them (PE-035)", async () => {
  const PATH = await executables(["mine", "aider"]);
  const configured = {
    claude: { executable: "mine", args: ["--print", "--"] },
    aider: { executable: join(PATH, "aider"), args: ["--message"] },
  };
  const { environment, call } = await agents({ which: "shipped", configured, env: { PATH } });
  expect((await environment.listTools()).map(({ name }) => name)).toEqual([
    "agent_claude",
    "agent_codex",
    "agent_pi",
    "agent_aider",
  ]);
  expect(reportIn((await call("agent_claude", { prompt: "hi" })).output)).toMatchObject({
    self: join(PATH, "mine"),
    argv: ["--print", "--", "hi"],
  });
  expect(reportIn((await call("agent_aider", { prompt: "hi" })).output).argv).toEqual(["--message", "hi"]);
  expect((await (await agents({ which: "configured", configured })).environment.listTools()).length).toBe(2);
});

test("after the session has been disposed of no agent is started", async () => {
  const PATH = await executables(["fake"]);
  const { environment, call } = await agents({ configured: { fake: { executable: "fake" } }, env: { PATH } });
  onTestFinished(() => environment.dispose());
  await environment.dispose();
  expect((await call("agent_fake", { prompt: "hi" })).stopReason).toBe("aborted");
});
