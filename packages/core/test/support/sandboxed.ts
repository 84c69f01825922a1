import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { ProcessRegistry } from "../../src/environment/process/process-registry.ts";
import type { ProcessEnd } from "../../src/environment/process/run-process.ts";
import { sandboxAvailability } from "../../src/environment/sandbox/availability.ts";
import { createSandbox, type Sandbox } from "../../src/environment/sandbox/sandbox.ts";
import type { SandboxPlace, SandboxSettings } from "../../src/environment/sandbox/settings.ts";

const { problem } = { problem: undefined, ...sandboxAvailability("off") };

/** Whether the tests with real confinement can run here; where they cannot, the title says why. */
export const canConfine: boolean = problem === undefined;
export const SANDBOX: string = problem === undefined ? "in a sandbox" : `in a sandbox (skipped here: ${problem})`;

export interface Sandboxed {
  readonly place: Required<Omit<SandboxPlace, "memoryDir">>;
  /** What may not be touched; it holds everything else. */
  readonly outside: string;
  readonly sandbox: Sandbox;
  readonly commands: ProcessRegistry;
  sh(script: string): Promise<Said>;
}

/** What a script printed on both streams, and how it ended. */
type Said = Pick<ProcessEnd, "exitCode" | "signal"> & { readonly text: string };

/** A workspace and a data directory with secrets, not below `/tmp`, which is another one inside, and a shell confined to them. */
export function sandboxed(
  changes: Partial<SandboxSettings> = {},
  { workspace = "workspace" }: { readonly workspace?: string } = {},
): Sandboxed {
  const outside = realpathSync(mkdtempSync("/var/tmp/sandbox-test-"));
  const dataRoot = join(outside, "home", "data");
  const place = {
    workspaceDir: join(outside, workspace),
    dataRoot,
    scratchpadDir: join(dataRoot, "project", "scratchpad"),
    protectedPaths: [join(dataRoot, "config.yaml"), join(dataRoot, "project", "project_config.yaml")],
  };
  mkdirSync(place.scratchpadDir, { recursive: true });
  mkdirSync(place.workspaceDir, { recursive: true });
  for (const path of place.protectedPaths) writeFileSync(path, "api_key: the-key\n");
  writeFileSync(join(outside, "untouched"), "as it was\n");
  const sandbox = createSandbox({ mode: "workspace-write", network: "off", ...changes }, place);
  if (sandbox === undefined) throw new Error("no sandbox was made");
  const commands = new ProcessRegistry({ confine: sandbox.confine });
  onTestFinished(async () => {
    await commands.dispose();
    rmSync(outside, { recursive: true, force: true });
  });
  return { place, outside, sandbox, commands, sh: (script) => run(commands, script, place.workspaceDir) };
}

async function run(commands: ProcessRegistry, script: string, cwd: string): Promise<Said> {
  const env = { PATH: process.env.PATH ?? "", HOME: process.env.HOME ?? "/" };
  const running = commands.run({ file: "/bin/bash", args: ["-c", script], cwd, env });
  let text = "";
  for await (const chunk of running.output) text += chunk.text;
  const { exitCode, signal, error = "" } = await running.ended;
  return { text: text + error, exitCode, signal };
}
