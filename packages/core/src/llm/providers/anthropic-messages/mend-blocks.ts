import { isJsonObject, jsonText } from "../../json-value.ts";
import { marked } from "../provider.ts";

/** An event of a reply, as the package under us reads it. */
export type WireEvent = Readonly<Record<string, unknown>> & { readonly type: string };

interface Block {
  readonly kind: string;
  /** Of a call, as the server gave it. */
  readonly id: string | undefined;
  /** Arguments that came whole, before any piece of them. */
  readonly wholeInput: string;
  hasPieces: boolean;
  readonly signature: string[];
}

/**
 * Brings the content blocks of one reply into the form that the package reads whole.
 *
 * The package passes over text, thinking, arguments and signatures that come with the start of a block; it takes each piece
 * of a signature for one of its own; it wants every field, and blocks to be closed. Servers leave out ids, use one twice,
 * send a start twice, or none. Blocks of kinds that nobody asked for, server tools among them, are left out.
 */
export class BlockMender {
  readonly #open = new Map<number, Block>();
  readonly #usedIds = new Set<string>();

  start(index: number, content: Readonly<Record<string, unknown>>): WireEvent[] {
    const kind = String(content.type);
    const id = written(content.id);
    const open = this.#open.get(index);
    if (open?.kind === kind && open.id === id) return [];
    const before = this.stop(index);
    const input = isJsonObject(content.input) && Object.keys(content.input).length > 0 ? content.input : undefined;
    const wholeInput = input ? (jsonText(input) ?? TOO_DEEP) : "";
    this.#open.set(index, { kind, id, wholeInput, hasPieces: false, signature: [] });
    return [...before, ...this.#begin(index, kind, content), ...this.#contentOf(index, kind, content)];
  }

  delta(index: number, delta: Readonly<Record<string, unknown>>): WireEvent[] {
    const field = FIELDS.get(String(delta.type));
    if (!field) return [];
    const before = this.#open.has(index) ? [] : this.start(index, { type: field.kind });
    const block = this.#open.get(index);
    const value = delta[field.name];
    const content = typeof value === "string" ? value : isJsonObject(value) ? (jsonText(value) ?? TOO_DEEP) : "";
    if (!block || !KINDS.has(block.kind) || content === "") return before;
    if (field.name === "signature") {
      block.signature.push(content);
      return before;
    }
    block.hasPieces = true;
    return [...before, deltaEvent(index, String(delta.type), field.name, content)];
  }

  stop(index: number): WireEvent[] {
    const block = this.#open.get(index);
    this.#open.delete(index);
    if (!block || !KINDS.has(block.kind)) return [];
    const signature = block.signature.join("");
    return [
      ...(block.wholeInput !== "" && !block.hasPieces
        ? [deltaEvent(index, "input_json_delta", "partial_json", block.wholeInput)]
        : []),
      ...(signature === "" ? [] : [deltaEvent(index, "signature_delta", "signature", signature)]),
      { type: "content_block_stop", index },
    ];
  }

  /** Closes what the server left open. */
  stopAll(): WireEvent[] {
    return [...this.#open.keys()].flatMap((index) => this.stop(index));
  }

  #begin(index: number, kind: string, content: Readonly<Record<string, unknown>>): WireEvent[] {
    const begin = (fields: object): WireEvent[] => [
      { type: "content_block_start", index, content_block: { type: kind, ...fields } },
    ];
    if (kind === "text") return begin({ text: "" });
    if (kind === "thinking") return begin({ thinking: "" });
    if (kind === "redacted_thinking") return begin({ data: String(content.data ?? "") });
    if (kind === "tool_use") return begin({ id: this.#distinctId(content.id), name: String(content.name ?? "") });
    return [];
  }

  #contentOf(index: number, kind: string, content: Readonly<Record<string, unknown>>): WireEvent[] {
    if (kind === "text") return this.delta(index, { type: "text_delta", text: content.text });
    if (kind !== "thinking") return [];
    return [
      ...this.delta(index, { type: "thinking_delta", thinking: content.thinking }),
      ...this.delta(index, { type: "signature_delta", signature: content.signature }),
    ];
  }

  #distinctId(value: unknown): string {
    const id = written(value);
    const distinct = id === undefined || this.#usedIds.has(id) ? marked(id ?? "", this.#usedIds.size) : id;
    this.#usedIds.add(distinct);
    return distinct;
  }
}

/** Where each kind of piece has its content, and in what block it stands. */
const FIELDS: ReadonlyMap<string, { readonly name: string; readonly kind: string }> = new Map([
  ["text_delta", { name: "text", kind: "text" }],
  ["thinking_delta", { name: "thinking", kind: "thinking" }],
  ["signature_delta", { name: "signature", kind: "thinking" }],
  ["input_json_delta", { name: "partial_json", kind: "unknown" }],
]);

const KINDS: ReadonlySet<string> = new Set(["text", "thinking", "redacted_thinking", "tool_use"]);

/** No JSON, so that the call is answered and not run. */
const TOO_DEEP = "[arguments nested too deeply to be written as text]";

function deltaEvent(index: number, type: string, name: string, content: string): WireEvent {
  return { type: "content_block_delta", index, delta: { type, [name]: content } };
}

function written(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value : undefined;
}
