import { firstCharacter } from "../event-stream.ts";

/**
 * A body that is one JSON array of events, or one event, as the stream of server-sent events it stands for: so a service
 * answers that passes over `alt=sse`. It goes on as it comes. Any other body stays as it is.
 */
export function arrayAsEvents(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  const writer = new ElementWriter();
  let isJson: boolean | undefined;
  return new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await reader.read();
        if (done) return controller.close();
        isJson ??= beginsJson(value);
        controller.enqueue(isJson ? writer.write(value) : value);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

/** `undefined` while nothing but white space and a byte order mark has come. */
function beginsJson(bytes: Uint8Array): boolean | undefined {
  const first = firstCharacter(latin1(bytes));
  return first === undefined ? undefined : first === "[" || first === "{";
}

/** Writes the outermost objects of a JSON text as events, and nothing that stands between them. */
class ElementWriter {
  #depth = 0;
  #inString = false;
  #escaped = false;

  write(bytes: Uint8Array): Uint8Array {
    const text = latin1(bytes);
    let events = "";
    let start = 0;
    for (let at = 0; at < text.length; at += 1) {
      const before = this.#depth;
      this.#read(text[at] ?? "");
      if (before === 0 && this.#depth === 1) {
        events += "data: ";
        start = at;
      }
      if (before === 1 && this.#depth === 0) events += `${onOneLine(text.slice(start, at + 1))}\n\n`;
    }
    return Buffer.from(this.#depth > 0 ? events + onOneLine(text.slice(start)) : events, "latin1");
  }

  #read(character: string): void {
    if (this.#escaped) this.#escaped = false;
    else if (this.#inString) {
      if (character === "\\") this.#escaped = true;
      else if (character === '"') this.#inString = false;
    } else if (character === '"') this.#inString = true;
    else if (character === "{") this.#depth += 1;
    else if (character === "}") this.#depth -= 1;
  }
}

function onOneLine(json: string): string {
  return json.replace(/[\r\n]/g, " ");
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
}
