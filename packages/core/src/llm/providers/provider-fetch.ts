import { wellFormedBody } from "./well-formed-body.ts";

/**
 * How a protocol's package reaches the service: with a body that every service reads, and the stream of the answer mended.
 * Answers that are not a success stay as they are.
 */
export function providerFetch(
  transport: typeof fetch,
  mend: (body: ReadableStream<Uint8Array>) => ReadableStream<Uint8Array>,
): typeof fetch {
  return async (input, init) => {
    const body = typeof init?.body === "string" ? { body: wellFormedBody(init.body) } : {};
    const response = await transport(input, { ...init, ...body });
    if (!response.ok || !response.body) return response;
    // In place of the getter: another response around the stream would cost more than mending it.
    return Object.defineProperty(response, "body", { value: mend(response.body) });
  };
}
