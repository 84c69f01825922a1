import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { OmniMessage } from "@rookery/core";
import { expect, onTestFinished, test } from "vitest";
import { fakeAgent, outcome } from "../../test/support/fake-agent.ts";
import { type FakeIo, fakeIo } from "../../test/support/fake-io.ts";
import { rookery } from "../rookery.ts";

const GIF = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7";

/** The input that a run with these flags gave the model; absent where none began. */
async function run(flags: readonly string[], vision: boolean, io: FakeIo): Promise<[number, unknown[] | undefined]> {
  let input: readonly OmniMessage[] | undefined;
  const agent = fakeAgent({
    vision,
    // biome-ignore lint/correctness/useYield: it has nothing to say.
    async *run(messages) {
      input = messages;
      return outcome();
    },
  });
  const exitCode = await rookery(["run", ...flags, "Look"], io, agent);
  return [exitCode, input?.map(({ payload }) => payload)];
}

async function imageDirectory(): Promise<string> {
  const cwd = await mkdtemp(join(tmpdir(), "run-image-"));
  onTestFinished(() => rm(cwd, { recursive: true }));
  await writeFile(join(cwd, "a.png"), Buffer.from(GIF, "base64"));
  await writeFile(join(cwd, "b.png"), "<html>");
  return cwd;
}

test("--image adds images behind the prompt, in their order, of the type that they are", async () => {
  const io = fakeIo({ cwd: await imageDirectory() });
  const image = { type: "image_url", role: "user", image_url: `data:image/gif;base64,${GIF}` };
  expect(await run(["--image", "a.png", "--image", join(io.cwd, "a.png")], true, io)).toEqual([
    0,
    [{ type: "text", role: "user", text: "Look" }, image, image],
  ]);
});

test.each([
  ["b.png", "cannot use the image b.png: it is an HTML page, not a PNG, JPEG, GIF or WebP image; name an image"],
  [".", "cannot use the image .: it is a directory, not a file; name a file in it, or list it with the shell"],
])("--image %s is a usage error before anything is started", async (file, message) => {
  const io = fakeIo({ cwd: await imageDirectory() });
  expect(await run(["--image", file], true, io)).toEqual([2, undefined]);
  expect(io.err()).toBe(`rookery: ${message}\n`);
});

test("a model that is not known to see images is refused an image, with what to do", async () => {
  const io = fakeIo({ cwd: await imageDirectory() });
  expect(await run(["--image", "a.png"], false, io)).toEqual([2, undefined]);
  expect(io.err()).toBe(
    "rookery: --image needs a model that sees images, and custom/local is not known to; choose another with --model, or " +
      "say that it does with rookery config model add custom/local --vision\n",
  );
});
