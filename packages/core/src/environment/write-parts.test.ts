import { mkdtemp, open, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { writeParts } from "./write-parts.ts";

const directory = await mkdtemp(join(tmpdir(), "rookery-parts-"));

test("what a first write leaves over is written behind it", async () => {
  const texts = fc.array(fc.string({ maxLength: 20 }), { maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(texts, fc.nat({ max: 200 }), async (written, room) => {
      const parts = written.map((text) => Buffer.from(text));
      const file = await open(join(directory, "short"), "w+");
      const writev = async <T extends readonly NodeJS.ArrayBufferView[]>(buffers: T) => {
        const { bytesWritten } = await file.write(Buffer.concat(parts).subarray(0, room));
        return { bytesWritten, buffers };
      };
      await writeParts({ writev, writeFile: file.writeFile.bind(file) }, parts);
      await file.close();
      expect(await readFile(join(directory, "short"))).toEqual(Buffer.concat(parts));
    }),
    { numRuns: 50 },
  );
});

test("more parts than the system takes at once are written whole", async () => {
  const path = join(directory, "file");
  const parts = Array.from({ length: 5000 }, (_, index) => Buffer.from(`${index}\n`));
  const file = await open(path, "wx");
  await writeParts(file, parts);
  await file.close();
  expect(await readFile(path, "utf8")).toBe(Buffer.concat(parts).toString());
});
