import { isJsonObject } from "../../json-value.ts";

/**
 * The body of a request with the marks by which Claude caches a prompt behind a gateway: on the system prompt, and on the
 * last text of each of the user's last two turns.
 */
export function markForCache(body: Record<string, unknown>): Record<string, unknown> {
  const sent = Array.isArray(body.messages) ? body.messages.filter(isJsonObject) : [];
  const turnEnds = [...sent.keys()].filter((i) => isUserSide(sent[i]) && !isUserSide(sent[i + 1]));
  const places = new Set(turnEnds.slice(-2).map((end) => lastTextOfTurn(sent, end)));
  const marked = sent.map((message, i) => (message.role === "system" || places.has(i) ? withMark(message) : message));
  return { ...body, messages: marked };
}

type Message = Readonly<Record<string, unknown>>;

function isUserSide(message: Message | undefined): boolean {
  return message?.role === "user" || message?.role === "tool";
}

/** The place of the last message with text in the turn that ends here. */
function lastTextOfTurn(messages: readonly Message[], end: number): number {
  let at = end;
  while (isUserSide(messages[at]) && lastText(partsOf(messages[at])) === -1) at -= 1;
  return at;
}

/** The message with a mark on its last text. */
function withMark(message: Message): Message {
  const parts = partsOf(message);
  const at = lastText(parts);
  if (at === -1) return message;
  return { ...message, content: parts.map((part, i) => (i === at ? { ...part, cache_control: EPHEMERAL } : part)) };
}

const EPHEMERAL = { type: "ephemeral" };

function partsOf(message: Message | undefined): Message[] {
  const content = message?.content;
  if (typeof content === "string") return [{ type: "text", text: content }];
  return Array.isArray(content) ? content.filter(isJsonObject) : [];
}

/** A blank text takes no mark. */
function lastText(parts: readonly Message[]): number {
  return parts.findLastIndex(({ text }) => typeof text === "string" && text.trim() !== "");
}
