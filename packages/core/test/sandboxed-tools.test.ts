import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { createAgent } from "../src/agent/agent.ts";
import type { EnvironmentConfig } from "../src/environment/contract.ts";
import { Environment } from "../src/environment/environment.ts";
import { ProcessRegistry } from "../src/environment/process/process-registry.ts";
import { toolsetDefinitions } from "../src/environment/toolset-registry.ts";
import { modelMessage, userText } from "../src/omnimessage/build.ts";
import { isType, ofType } from "../src/omnimessage/guards.ts";
import type { ToolCallOutputPayload } from "../src/omnimessage/message.ts";
import { collectRun, scriptedLLM, tempAgent } from "../src/testing/index.ts";
import { canConfine, SANDBOX, type Sandboxed, sandboxed } from "./support/sandboxed.ts";

describe.skipIf(!canConfine)(SANDBOX, () => {
  test("commands go on behind their call, are answered, and are interrupted; a terminal is one", async () => {
    const { call } = tools();
    const started = await call("exec_command", {
      cmd: "trap 'echo stopped; exit 3' INT; echo ready; while read -r line; do echo got $line; done",
      run_in_background: true,
    });
    const id = /proc-[0-9a-f]{8}/.exec(started.output)?.[0];
    expect((await call("input_command", { process_id: id, chars: "a\n" })).output).toContain("got a\n");
    const stopped = await call("input_command", { process_id: id, chars: "\u0003", yield_time_ms: 5000 });
    expect(stopped.output).toBe("stopped\n[exit code 3]");

    const cmd = "trap 'echo caught' INT; tty >/dev/null && echo terminal; read -r line; echo $line; exit 5";
    const atTerminal = await call("exec_command", { cmd, tty: true, yield_time_ms: 400 });
    expect(atTerminal.output).toContain("terminal");
    const terminal = /proc-[0-9a-f]{8}/.exec(atTerminal.output)?.[0];
    await call("input_command", { process_id: terminal, chars: "\u0003" });
    const last = await call("input_command", { process_id: terminal, chars: "answer\r", yield_time_ms: 5000 });
    expect(last.output).toMatch(/answer[\s\S]*\[exit code 5\]$/);
  });

  test("a server in the background and later commands see the same /tmp", async () => {
    const { call } = tools();
    await call("exec_command", {
      cmd: "rm -f /tmp/fifo; mkfifo /tmp/fifo; echo served > /tmp/fifo; sleep 300",
      run_in_background: true,
    });
    const { output } = await call("exec_command", {
      cmd: "until test -p /tmp/fifo; do sleep 0.02; done; cat /tmp/fifo",
    });
    expect(output).toBe("served\n[exit code 0]");
  });

  test("file tools write where commands may, by real paths, and read everything but secrets", async () => {
    const { box, call } = tools();
    const { place, outside } = box;
    symlinkSync(outside, join(place.workspaceDir, "link"));
    mkdirSync(join(place.workspaceDir, ".git", "hooks"), { recursive: true });
    const write = async (file_path: string) => (await call("write_file", { file_path, content: "x" })).output;
    expect(await write("a")).toContain("Created a");
    expect(await write(join(place.scratchpadDir, "b"))).toContain("Created");
    for (const path of ["../untouched", "link/untouched", join(outside, "untouched"), "/tmp/x", "link/new/file"]) {
      expect(await write(path)).toMatch(
        /^the sandbox \(workspace-write\) lets file tools write below .* only, not to /,
      );
    }
    for (const path of [".git/hooks/pre-commit", ".git/config", ".git/commondir", "sub/.git/modules/a/hooks/x"]) {
      expect(await write(path)).toMatch(/^the sandbox .* keeps hooks and configuration of git as they are/);
    }
    const edit = await call("edit_file", { file_path: "../untouched", old_string: "as", new_string: "not as" });
    expect(edit.output).toMatch(/^the sandbox/);
    expect(readFileSync(join(outside, "untouched"), "utf8")).toBe("as it was\n");
    expect((await call("read_file", { file_path: "../untouched" })).output).toContain("as it was");
    expect((await call("read_file", { file_path: place.protectedPaths[0] })).output).toContain("own secrets");
  });

  test("in read-only mode file tools write to the scratchpad only", async () => {
    const { box, call } = tools({ mode: "read-only" });
    const { output, stop_reason } = await call("write_file", { file_path: "a", content: "x" });
    expect([output.slice(0, 24), stop_reason]).toEqual(["the sandbox (read-only) ", "failed"]);
    const inside = await call("write_file", { file_path: join(box.place.scratchpadDir, "a"), content: "x" });
    expect(inside.stop_reason).toBe("completed");
  });

  test("an Environment by itself confines what it runs, in every toolset", async () => {
    const box = sandboxed();
    const config = { ...environmentConfig(box, "minimal"), sandbox: { mode: "read-only", network: "off" } } as const;
    const environment = new Environment(config);
    onTestFinished(() => environment.dispose());
    const output = await execute(environment, "bash", { command: "touch a" });
    expect(output.output).toContain("Read-only file system");
    const services = { commandSessions: new ProcessRegistry() };
    expect(() => new Environment({ ...config, services })).toThrow("came without the sandbox");
  });

  test("a session is confined as its options say, its model is told so, and its secrets are hidden", async () => {
    const llm = scriptedLLM(
      {
        calls: [{ name: "exec_command", args: { cmd: "touch ../out; cat ../root/config.yaml; ls /tmp" } }],
      },
      "Done.",
    );
    await using temp = await tempAgent({ createLLM: () => llm, sandbox: { mode: "workspace-write" } });
    mkdirSync(temp.root);
    writeFileSync(join(temp.root, "config.yaml"), "sandbox: { network: off }\n");
    const session = await temp.agent.createSession({ workspaceDir: temp.workspaceDir });
    expect(session.meta.system_prompt).toMatch(/^Sandbox \(workspace-write\): .*scratchpad.*Commands have no network/m);
    const { messages } = await collectRun(session, [userText("Go")], { approve: async () => "allow" });
    const [output] = ofType(messages, "tool_call_output");
    expect(output?.payload.output).toContain("cat: ../root/config.yaml: ");
    expect(output?.payload.output).not.toContain("sandbox:");
    expect(existsSync(join(temp.workspaceDir, "..", "out"))).toBe(false);
  });
});

test("what nothing would enforce is refused: a network that is off without a sandbox", async () => {
  await using temp = await tempAgent({ sandbox: { network: "off" } });
  await expect(temp.agent.createToolRunner({ workspaceDir: temp.workspaceDir })).rejects.toMatchObject({
    code: "usage",
  });
  mkdirSync(temp.root);
  writeFileSync(join(temp.root, "config.yaml"), "sandbox: { network: off }\n");
  const plain = await createAgent({ root: temp.root });
  await expect(plain.createToolRunner({ workspaceDir: temp.workspaceDir })).rejects.toMatchObject({
    code: "config-invalid",
  });
  await plain.dispose();
});

function tools(changes: Parameters<typeof sandboxed>[0] = {}) {
  const box = sandboxed(changes);
  const services = { commandSessions: box.commands, sandbox: box.sandbox };
  const environment = new Environment({ ...environmentConfig(box), services });
  const call = (name: string, args: object) => execute(environment, name, args);
  return { box, call };
}

function environmentConfig({ place }: Sandboxed, toolset = "standard"): EnvironmentConfig {
  const { workspaceDir, scratchpadDir: sessionScratchpadDir, protectedPaths } = place;
  const toolConfig = { customTools: toolsetDefinitions(toolset), mcpServers: [] };
  return { workspaceDir, sessionScratchpadDir, protectedPaths, toolset, toolConfig };
}

let calls = 0;

async function execute(environment: Environment, name: string, args: object): Promise<ToolCallOutputPayload> {
  calls += 1;
  const call = { type: "tool_call", role: "assistant", name, tool_call_id: `call_${calls}` } as const;
  const toolCall = modelMessage({ ...call, arguments: JSON.stringify(args) });
  for await (const message of environment.executeTool({ toolCall })) {
    if (isType(message, "tool_call_output")) return message.payload;
  }
  throw new Error("no output");
}
