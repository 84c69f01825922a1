import { mkdtemp, open, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { writeParts } from "./write-parts.ts";

test("however little each write takes, all parts are written once and in order", async () => {
  const texts = fc.array(fc.string({ maxLength: 20 }), { maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(texts, fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1 }), async (written, limits) => {
      let text = "";
      let writes = 0;
      const writev = async <T extends readonly NodeJS.ArrayBufferView[]>(buffers: T) => {
        const all = Buffer.concat(buffers as readonly Uint8Array[] as readonly Buffer[]);
        const taken = all.subarray(0, limits[writes++ % limits.length]);
        text += taken.toString("latin1");
        return { bytesWritten: taken.length, buffers };
      };
      const parts = written.map((part) => Buffer.from(part));
      await writeParts({ writev }, parts);
      expect(text).toBe(Buffer.concat(parts).toString("latin1"));
    }),
  );
});

test("more parts than the system takes at once are written whole", async () => {
  const path = join(await mkdtemp(join(tmpdir(), "rookery-parts-")), "file");
  const parts = Array.from({ length: 5000 }, (_, index) => Buffer.from(`${index}\n`));
  const file = await open(path, "wx");
  await writeParts(file, parts);
  await file.close();
  expect(await readFile(path, "utf8")).toBe(Buffer.concat(parts).toString());
});
