import { symlink, unlink } from "node:fs/promises";
import { expect, test } from "vitest";
import { collectOutput } from "../../test/support/collect-output.ts";
import { type FileWorkspace, fileWorkspace } from "../../test/support/file-workspace.ts";
import { modelMessage } from "../omnimessage/build.ts";
import { Environment } from "./environment.ts";
import { STANDARD_TOOLSET } from "./tool-registry.ts";

/** Assesses a call, does something, and executes it with that assessment. */
async function runAfter(
  workspace: FileWorkspace,
  name: string,
  args: Record<string, unknown>,
  meanwhile: () => Promise<void>,
): Promise<{ text: string; risk: string }> {
  const environment = new Environment({
    workspaceDir: workspace.dir,
    toolConfig: { customTools: STANDARD_TOOLSET, mcpServers: [] },
  });
  const toolCall = modelMessage({
    type: "tool_call",
    role: "assistant",
    name,
    arguments: JSON.stringify(args),
    tool_call_id: "call_1",
  });
  const assessment = await environment.assessCall(toolCall);
  await meanwhile();
  const { complete } = await collectOutput(environment.executeTool({ toolCall, assessment }));
  return { text: complete.output, risk: assessment.risk };
}

async function relink(workspace: FileWorkspace, name: string, target: string): Promise<void> {
  await unlink(workspace.path(name));
  await symlink(target, workspace.path(name));
}

test("a file tool refuses a path that leads elsewhere than when it was assessed", async () => {
  const workspace = await fileWorkspace();
  for (const [name, verb, args] of [
    ["edit_file", "edit", { old_string: "1", new_string: "2" }],
    ["write_file", "write", { content: "2" }],
    ["read_file", "read", {}],
  ] as const) {
    await workspace.write("a.txt", "K=1");
    await workspace.write(".env", "K=1");
    await symlink("a.txt", workspace.path("link"));
    expect(
      await runAfter(workspace, name, { file_path: "link", ...args }, () => relink(workspace, "link", ".env")),
    ).toEqual({
      text: `cannot ${verb} link: the path now leads to ${workspace.path(".env")}; call again`,
      risk: name === "read_file" ? "read_only" : "filesystem",
    });
    expect(await workspace.text(".env")).toBe("K=1");
    await unlink(workspace.path("link"));
  }
});

test("a new file is not made in a directory that another link has put in place of the assessed one", async () => {
  const workspace = await fileWorkspace();
  await workspace.write("one/keep", "");
  await workspace.write("two/keep", "");
  await symlink("one", workspace.path("dir"));
  const args = { file_path: "dir/new.txt", content: "x" };
  expect((await runAfter(workspace, "write_file", args, () => relink(workspace, "dir", "two"))).text).toBe(
    `cannot write dir/new.txt: the path now leads to ${workspace.path("two/new.txt")}; call again`,
  );
  await expect(workspace.text("two/new.txt")).rejects.toThrow("ENOENT");
});

test("a path that leads where it led is worked on, through a link too", async () => {
  const workspace = await fileWorkspace();
  await workspace.write("a.txt", "1\n");
  await symlink("a.txt", workspace.path("link"));
  const args = { file_path: "link", old_string: "1", new_string: "2" };
  expect((await runAfter(workspace, "edit_file", args, async () => {})).text).toContain("Replaced 1 occurrence(s)");
});
