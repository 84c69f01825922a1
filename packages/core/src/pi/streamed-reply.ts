import type { ToolCallIdAllocator } from "../llm/contract.ts";
import { fragmentOf } from "../llm/prose.ts";
import { assistantText, modelMessage } from "../omnimessage/build.ts";
import type { OmniMessage } from "../omnimessage/message.ts";
import type { AssistantMessageEvent } from "./agent-event.ts";
import type { AssistantBlock, AssistantMessage } from "./agent-message.ts";

type Kind = "text" | "thinking";

/** Makes OmniMessages of a reply in pi's steps: texts stream, calls come whole. */
export class StreamedReply {
  readonly #ids: ToolCallIdAllocator;
  /** The texts that stream, by their place in the reply. */
  readonly #open = new Map<number, { readonly kind: Kind; text: string }>();
  readonly #said = new Set<number>();

  constructor(ids: ToolCallIdAllocator) {
    this.#ids = ids;
  }

  *push(event: AssistantMessageEvent | { readonly type: "start" }): Generator<OmniMessage> {
    if (event.type === "text_delta" || event.type === "thinking_delta") {
      yield* this.#delta(event.contentIndex, event.type === "text_delta" ? "text" : "thinking", event.delta);
    }
    if (event.type === "text_end" || event.type === "thinking_end") yield* this.#close(event.contentIndex);
    if (event.type === "toolcall_end") yield* this.#whole(event.contentIndex, event.toolCall);
  }

  /** Says what the steps left out. */
  *end({ content }: AssistantMessage): Generator<OmniMessage> {
    for (const index of [...this.#open.keys()]) yield* this.#close(index);
    for (const [index, block] of content.entries()) if (!this.#said.has(index)) yield* this.#whole(index, block);
  }

  *#delta(index: number, kind: Kind, delta: string): Generator<OmniMessage> {
    if (delta === "") return;
    let open = this.#open.get(index);
    if (open === undefined) {
      open = { kind, text: "" };
      this.#open.set(index, open);
      yield modelMessage(fragmentOf(kind, "start", ""));
    }
    open.text += delta;
    yield modelMessage(fragmentOf(kind, "delta", delta));
  }

  *#close(index: number): Generator<OmniMessage> {
    const open = this.#open.get(index);
    if (open === undefined) return;
    this.#open.delete(index);
    this.#said.add(index);
    yield modelMessage(fragmentOf(open.kind, "stop", ""));
    yield complete(open.kind, open.text);
  }

  *#whole(index: number, block: AssistantBlock): Generator<OmniMessage> {
    this.#said.add(index);
    if (block.type === "toolCall") {
      yield modelMessage({
        type: "tool_call",
        role: "assistant",
        name: block.name,
        arguments: JSON.stringify(block.arguments),
        tool_call_id: this.#ids.allocate(block.id),
      });
      return;
    }
    const text = block.type === "text" ? block.text : block.thinking;
    if (text !== "") yield complete(block.type, text);
  }
}

function complete(kind: Kind, text: string): OmniMessage {
  return kind === "text" ? assistantText(text) : modelMessage({ type: "thinking", role: "assistant", thinking: text });
}
