// Lets the bundle read a reply's events in one pass.
import { readFile } from "node:fs/promises";
import { dirname } from "node:path";

/** What the model packages read events with, up to the comment in front of the next file of theirs. */
const READER = /^function parseJsonEventStream\(\{\n {2}stream,\n {2}schema\n\}\) \{\n[\s\S]*?\n\}\n(?=\n\/\/ src\/)/m;

/** Does as that does: an event is its JSON, checked by the schema; the end marker is none; half an event is dropped. */
const IN_ONE_PASS = `
import { createParser as createEventParser } from "eventsource-parser";
function parseJsonEventStream({ stream, schema }) {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  const texts = [];
  const parser = createEventParser({
    onEvent: ({ data }) => {
      if (data !== "[DONE]") texts.push(data);
    },
  });
  return new ReadableStream({
    async pull(controller) {
      while (texts.length === 0) {
        const { done, value } = await reader.read();
        if (done) return controller.close();
        parser.feed(decoder.decode(value, { stream: true }));
      }
      for (const text of texts.splice(0)) controller.enqueue(await safeParseJSON({ text, schema }));
    },
    cancel: (reason) => reader.cancel(reason),
  });
}
`;

/**
 * The model packages send a reply's events through three transforming streams, one behind the other. Each turn makes them
 * anew, which costs as much as the rest of its reading; one stream gives the same.
 */
export const onePassEvents = {
  name: "one-pass-events",
  setup(build) {
    build.onLoad({ filter: /[\\/]@ai-sdk[\\/]provider-utils[\\/]dist[\\/]index\.mjs$/ }, async ({ path }) => {
      const source = await readFile(path, "utf8");
      const contents = source.replace(READER, () => IN_ONE_PASS);
      if (contents === source)
        throw new Error(`${path} reads events in another way now: see whether it needs scripts/one-pass-events.mjs`);
      return { contents, resolveDir: dirname(path) };
    });
  },
};
