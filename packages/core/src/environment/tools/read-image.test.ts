import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { symlink } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { collectOutput } from "../../../test/support/collect-output.ts";
import { type FileWorkspace, fileWorkspace } from "../../../test/support/file-workspace.ts";
import { SAMPLE_IMAGES, SAMPLE_PNG } from "../../../test/support/sample-images.ts";
import { modelMessage } from "../../omnimessage/build.ts";
import type { OmniMessage, ToolCallPayload } from "../../omnimessage/message.ts";
import type { EnvironmentConfig } from "../contract.ts";
import { Environment } from "../environment.ts";
import { readImage } from "./read-image.ts";

function callOf(source: unknown): OmniMessage<ToolCallPayload> {
  const args = JSON.stringify({ source });
  return modelMessage({ type: "tool_call", role: "assistant", name: "read_image", arguments: args, tool_call_id: "c" });
}

/** The tool in a real environment on a workspace of its own. */
async function withTool(config: Partial<EnvironmentConfig> = {}) {
  const workspace = await fileWorkspace();
  const toolConfig = { customTools: [readImage.definition], mcpServers: [] };
  const environment = new Environment({ workspaceDir: workspace.dir, toolConfig, ...config });
  onTestFinished(() => environment.dispose());
  return {
    ...workspace,
    read: async (source: unknown, signal?: AbortSignal) =>
      (await collectOutput(environment.executeTool({ toolCall: callOf(source), ...(signal && { signal }) }))).complete,
    assess: (source: unknown) => environment.assessCall(callOf(source)),
  };
}

async function servePicture(): Promise<string> {
  const server = createServer((_, response) => response.end(SAMPLE_PNG));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test("read_image ships with permission r and 60000 ms, for models that see (PT-011)", () => {
  expect(readImage.definition).toMatchObject({
    name: "read_image",
    permission: "r",
    timeoutMs: 60_000,
    forModel: "vision",
    parameters: { required: ["source"] },
  });
});

test("an image of the workspace is answered as image content, with a line that tells its form (PT-164, PT-165, PT-167)", async () => {
  const { write, read, path } = await withTool();
  for (const [mediaType, bytes] of Object.entries(SAMPLE_IMAGES)) {
    await write("picture.txt", bytes);
    expect(await read("picture.txt")).toMatchObject({
      stop_reason: "completed",
      images: [`data:${mediaType};base64,${bytes.toString("base64")}`],
      details: {
        source: "picture.txt",
        path: path("picture.txt"),
        sha256: createHash("sha256").update(bytes).digest("hex"),
        bytes: bytes.length,
      },
    });
  }
  await write("picture.png", SAMPLE_PNG);
  expect((await read(path("picture.png"))).output).toBe("[PNG image, 2 x 2 pixels, 73 bytes]");
});

test.each<[string, (workspace: FileWorkspace) => unknown, string, string?]>([
  ["a page", (w) => w.write("x", "<!doctype html><p>Sign in"), "cannot read x: it is an HTML page, not a PNG, JPEG,"],
  ["a cut image", (w) => w.write("x", SAMPLE_PNG.subarray(0, 40)), "cannot read x: it is a PNG image that breaks off"],
  ["an empty file", (w) => w.write("x", ""), "cannot read x: it is empty (0 bytes), not an image"],
  ["a long file", (w) => w.write("x", Buffer.alloc(6_000_000)), "cannot read x: it has 6000000 bytes, over 5 MiB"],
  ["a pipe", (w) => execFileSync("mkfifo", [w.path("x")]), "cannot read x: it is a named pipe (FIFO), not a regular"],
  ["a directory", () => undefined, "cannot read .: it is a directory, not a file", "."],
  ["nothing", () => undefined, "does not exist"],
])("%s is refused, and no image is in the output", async (_, prepare, message, source = "x") => {
  const workspace = await withTool();
  await prepare(workspace);
  const answer = await workspace.read(source);
  expect(answer.stop_reason).toBe("failed");
  expect(answer.output).toContain(message);
  expect(answer).not.toHaveProperty("images");
});

test("an address is fetched where private ones are allowed, and refused where they are not (PT-164)", async () => {
  const url = await servePicture();
  const allowed = await withTool({ images: { allowPrivateAddresses: true, env: {} } });
  expect(await allowed.read(`${url}/a?token=canary-4711`)).toMatchObject({
    stop_reason: "completed",
    images: [expect.stringMatching(/^data:image\/png;base64,/)],
    details: { source: `${url}/a?token=[redacted]` },
  });
  const { read } = await withTool();
  expect(await read(url)).toMatchObject({
    stop_reason: "failed",
    output: expect.stringContaining("private addresses"),
  });
});

test.each([
  ["file:///etc/passwd", "file: addresses are not read; give an http(s) address, or the path of a file"],
  ["data:image/png;base64,AAAA", "data: addresses are not read"],
  ["ftp://me:hunter@host/a.png", "ftp: addresses are not read"],
  ["http://me:hunt@er22@127.0.0.1/a.png", "the address holds a user name or a password; give one without"],
  ["http://", "this is no valid address"],
])("%s is refused, and no credential is told", async (source, message) => {
  const { read } = await withTool({ images: { allowPrivateAddresses: true } });
  const answer = await read(source);
  expect(answer).toMatchObject({ stop_reason: "failed", output: expect.stringContaining(message) });
  expect(answer.output).not.toMatch(/hunt|er22/);
});

test("reading inside the workspace is read_only; addresses, what is outside, and secret-like paths are filesystem", async () => {
  const { assess, write, dir } = await withTool();
  await write("a.png", SAMPLE_PNG);
  await symlink("/etc/hostname", `${dir}/link.png`);
  await symlink(`${dir}/a.png`, `${dir}/id_rsa.png`);
  const [inside, ...raised] = await Promise.all(
    ["a.png", "https://me:pw@example.com/a.png?sig=4711", "link.png", "../b.png", "id_rsa.png", ".ssh/a.png"].map(
      assess,
    ),
  );
  expect(inside).toMatchObject({
    risk: "read_only",
    summary: "read the image a.png",
    paths: { read: [`${dir}/a.png`] },
  });
  expect(raised.map(({ risk }) => risk)).toEqual(Array(5).fill("filesystem"));
  expect(raised[0]?.summary).toBe(
    "read the image at https://[redacted]@example.com/a.png?sig=[redacted], which is fetched",
  );
  expect(raised[1]?.summary).toMatch(/^read the image link\.png -> \//);
});

test("the harness's own secret files are refused", async () => {
  const { read, write, dir } = await withTool({ protectedPaths: ["/nowhere/config.yaml"] });
  await symlink("/nowhere/config.yaml", `${dir}/x.png`);
  await write("a.png", SAMPLE_PNG);
  expect((await read("x.png")).output).toContain("the harness's own secrets");
});

test("a call that is interrupted while an image is fetched ends as aborted", async () => {
  const controller = new AbortController();
  const server = createServer((_, response) => response.write("\x89PNG", () => controller.abort()));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { read } = await withTool({ images: { allowPrivateAddresses: true, env: {} } });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  expect(await read(url, controller.signal)).toMatchObject({ stop_reason: "aborted" });
});
