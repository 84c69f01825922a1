/**
 * What to tell of an event, or of a whole answer, that belongs to another protocol than the one that was asked;
 * `undefined` for one that belongs to none. To be asked only of what is not the protocol's own.
 */
export function foreignReply(value: Readonly<Record<string, unknown>>): string | undefined {
  const found = PROTOCOLS.find(({ owns }) => owns(value));
  return found && `the server answered with ${found.name}; set the client type of this model to ${found.clientType}`;
}

const PROTOCOLS: readonly {
  readonly clientType: string;
  readonly name: string;
  readonly owns: (value: Readonly<Record<string, unknown>>) => boolean;
}[] = [
  { clientType: "openai-chat", name: "Chat Completions", owns: ({ choices }) => Array.isArray(choices) },
  {
    clientType: "openai-responses",
    name: "Responses",
    owns: ({ type, object }) => object === "response" || (typeof type === "string" && type.startsWith("response.")),
  },
  {
    clientType: "anthropic-messages",
    name: "Anthropic Messages",
    owns: ({ type, role }) => type === "message_start" || (type === "message" && role === "assistant"),
  },
  { clientType: "google", name: "the Gemini API", owns: ({ candidates }) => Array.isArray(candidates) },
];
