import { spawnSync } from "node:child_process";
import { mkdtemp, rm, symlink, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { RookeryError } from "../errors/rookery-error.ts";
import { readSystemConfig } from "./system-config.ts";

async function configFile(text?: string | Uint8Array): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "system-config-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const file = join(directory, "system_config.yaml");
  if (text !== undefined) await writeFile(file, text);
  return file;
}

const tool = (fields: string): string => `tools:\n  builtin:\n    - { description: d, ${fields} }\n`;

test("a missing, an empty and a commented-out file say nothing", async () => {
  expect(await readSystemConfig(await configFile())).toEqual({});
  expect(await readSystemConfig(await configFile(""))).toEqual({});
  expect(await readSystemConfig(await configFile("# tools:\n"))).toEqual({});
});

test("an entry of tools.builtin may have every field of ToolDefinitionConfig, and one of mcpServers a name and a config (PT-185, PT-189)", async () => {
  const config = {
    toolset: "standard",
    tools: {
      builtin: [
        {
          name: "read_file",
          description: "Reads.",
          parameters: { type: "object", properties: { file_path: { type: "string" } }, required: ["file_path"] },
          permission: "rw",
          forModel: "text-only",
          timeoutMs: 0,
          maxOutputLength: -1,
          truncation: "head_tail",
          call_description: false,
        },
      ],
      mcpServers: [{ name: "files", config: { command: "npx", args: ["-y", "server"], env: { A: "b" } } }],
    },
    compaction: { max_context_length: 1, mode: "discard", model: { provider: "p", model_id: "m" } },
    max_turns: 3,
  };
  expect(await readSystemConfig(await configFile(JSON.stringify(config)))).toEqual(config);
});

test.each([
  ["tool: {}\n", "1: tool is not a known key", "did you mean tools?"],
  ["max_turns: many\n", '1: max_turns must be a number, got "many"', undefined],
  ["tools:\n", "1: tools must be an object, got null", undefined],
  ["tools:\n  builtin:\n", "2: tools.builtin must be a list, got null", undefined],
  ["tools:\n  builtins: []\n", "2: tools.builtins is not a known key", "did you mean builtin?"],
  ["tools:\n  builtin:\n    - name: read_file\n", "3: tools.builtin[0].description is missing", undefined],
  [
    tool("name: read_file, timeoutMS: 1"),
    "3: tools.builtin[0].timeoutMS is not a known key",
    "did you mean timeoutMs?",
  ],
  [tool("name: read_file, permission: w"), '3: tools.builtin[0].permission must be one of "r", "rw"', undefined],
  [tool("name: read_file, parameters: []"), "3: tools.builtin[0].parameters must be an object, got []", undefined],
  [
    tool("name: read_file, parameters: { type: string }"),
    '3: tools.builtin[0].parameters.type must be "object", got "string"',
    "correct it, or take it out",
  ],
  [
    tool("name: read_fil"),
    '3: tools.builtin[0].name: no built-in tool of this toolset is named "read_fil"',
    "did you mean read_file? use one of exec_command, input_command, read_file, edit_file, write_file, read_image, describe_image",
  ],
  [
    `toolset: minimal\n${tool("name: exec_command")}`,
    '4: tools.builtin[0].name: no built-in tool of this toolset is named "exec_command"',
    "use one of bash, read, write, edit",
  ],
  [
    `${tool("name: read_file")}    - { name: read_file, description: e }\n`,
    '4: tools.builtin[1].name: "read_file" is in the list already',
    "correct it, or take it out",
  ],
  ["toolset: strct\n", '1: toolset: no toolset is named "strct"', "use one of standard, strict, minimal"],
  [
    "tools:\n  mcpServers:\n    - { name: a, config: {} }\n    - { name: a, config: {} }\n",
    '4: tools.mcpServers[1].name: "a" is in the list already',
    "correct it, or take it out",
  ],
  [
    "compaction: { keep_recent_tokens: -1 }\n",
    "1: compaction.keep_recent_tokens must be 0 or more, got -1",
    "correct it, or take it out",
  ],
  ["compaction: { modus: discard }\n", "1: compaction.modus is not a known key", "did you mean mode?"],
  ["tools: { builtin: [\n", "not valid YAML", "correct the file; it was left as it is"],
])("%j is an error that names file, line and key", async (text, message, hint) => {
  const file = await configFile(text);
  const error = await readSystemConfig(file).catch((thrown) => thrown);
  expect(error).toMatchObject({ code: "config-invalid", hint });
  expect(error.message).toContain(message.startsWith("not") ? message : `${file}:${message}`);
});

test("what JSON cannot hold is refused where it stands: a schema must be able to go into a record", async () => {
  const parameters = (yaml: string): string =>
    `tools:\n  builtin:\n    - name: read_file\n      description: d\n      parameters:\n        type: object\n        ${yaml}\n`;
  for (const [yaml, message] of [
    ["properties: &a { self: *a }", "7: tools.builtin.0.parameters.properties.self contains itself"],
    ["minimum: .nan", "7: tools.builtin.0.parameters.minimum must be a finite number, got NaN"],
    ["x: !!set { a }", "7: tools.builtin.0.parameters.x has a type that cannot be used here"],
    ["x: !!binary aGk=", "7: tools.builtin.0.parameters.x has a type that cannot be used here"],
  ] as const) {
    const file = await configFile(parameters(yaml));
    await expect(readSystemConfig(file)).rejects.toThrow(`${file}:${message}`);
  }
  await expect(readSystemConfig(await configFile("max_turns: .inf\n"))).rejects.toThrow("got Infinity");
});

test("one thing that stands in two places by an anchor is no circle", async () => {
  const text =
    "compaction: &c { mode: discard }\ntools:\n  mcpServers: [{ name: a, config: *c }, { name: b, config: *c }]\n";
  expect((await readSystemConfig(await configFile(text))).tools?.mcpServers).toEqual([
    { name: "a", config: { mode: "discard" } },
    { name: "b", config: { mode: "discard" } },
  ]);
});

test("nothing is printed about odd YAML", async () => {
  const printed: unknown[] = [];
  const listener = (warning: Error): void => void printed.push(warning.message);
  process.on("warning", listener);
  onTestFinished(() => void process.off("warning", listener));
  const text = "tools: { mcpServers: [{ name: !odd a, config: { ? [1] : 2 } }] }\n";
  expect((await readSystemConfig(await configFile(text))).tools?.mcpServers).toEqual([
    { name: "a", config: { "[ 1 ]": 2 } },
  ]);
  await new Promise(setImmediate);
  expect(printed).toEqual([]);
});

test("what an MCP server is configured with is not repeated in an error", async () => {
  for (const text of ["{ s: { token: sk-secret } }", "[{ name: a, config: sk-secret }]"]) {
    const error = await readSystemConfig(await configFile(`tools: { mcpServers: ${text} }\n`)).catch(
      (thrown) => thrown,
    );
    expect(error).toMatchObject({
      code: "config-invalid",
      message: expect.stringMatching(/must be (a list|an object)$/),
    });
  }
});

test("a file that is no text, a directory, a pipe, a device, an endless or a huge file is an error and nothing waits for it", async () => {
  const binary = await configFile(Uint8Array.from({ length: 4096 }, (_, i) => (i * 31) % 256));
  await expect(readSystemConfig(binary)).rejects.toMatchObject({ code: "config-invalid" });
  const pipe = await configFile();
  spawnSync("mkfifo", [pipe]);
  await expect(readSystemConfig(pipe)).rejects.toThrow(`cannot read ${pipe}: it is not a regular file`);
  const device = await configFile();
  await symlink("/dev/zero", device);
  await expect(readSystemConfig(device)).rejects.toThrow(`cannot read ${device}: it is not a regular file`);
  const huge = await configFile("");
  await truncate(huge, 2 ** 33);
  await expect(readSystemConfig(huge)).rejects.toThrow(`cannot read ${huge}: it is larger than 4194304 bytes`);
  await expect(readSystemConfig(tmpdir())).rejects.toThrow("EISDIR");
});

test("whatever the file holds, it is a configuration or an error that names it", async () => {
  const file = await configFile("");
  const words = [
    "toolset",
    "tools",
    "builtin",
    "mcpServers",
    "name",
    "config",
    "max_turns",
    "minimal",
    "bash",
    "description",
  ];
  const text = fc.array(
    fc.oneof(fc.constantFrom(...words, ": ", "\n", "\n  ", "- ", "{", "}", "[", "]", "&a", "*a", "!!set"), fc.string()),
  );
  await fc.assert(
    fc.asyncProperty(text, async (parts) => {
      await writeFile(file, parts.join(""));
      try {
        JSON.stringify(await readSystemConfig(file));
      } catch (error) {
        expect(RookeryError.is(error) && error.code === "config-invalid" && error.message.includes(file)).toBe(true);
      }
    }),
    { numRuns: 100 },
  );
});
