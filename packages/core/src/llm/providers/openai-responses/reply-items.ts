import { marked } from "../provider.ts";
import { missedCalls } from "./missed-calls.ts";
import { asIndex, type ItemKind, readArguments, readItem, type SentItem, written } from "./sent-item.ts";
import type { WireEvent } from "./wire-event.ts";

/** An item as the package is told of it. */
interface Item {
  readonly kind: ItemKind;
  readonly id: string;
  readonly index: number;
  /** Where the server put it. */
  readonly outputIndex: number | undefined;
  callId: string | undefined;
  name: string | undefined;
  isAnnounced: boolean;
  isDone: boolean;
  /** A piece of its text went by. */
  hasSpoken: boolean;
  /** Of a call, as far as they have come. */
  readonly argumentPieces: string[];
}

/**
 * Gives every item of one reply one id and one place, whatever the server does with them, and each piece to its item.
 *
 * Servers change the id of an item from event to event, leave ids and places out, put all items at one place, send pieces
 * of items they never announced, and tell the text of an item only at its end, or only at that of the reply.
 */
export class ReplyItems {
  readonly #items: Item[] = [];
  readonly #byId = new Map<string, Item>();
  readonly #callIds = new Set<string>();

  /** `response.output_item.added`; a call is held back until its name is known. */
  add({ item, output_index: place }: WireEvent): WireEvent[] {
    const sent = readItem(item, place);
    if (!sent) return [];
    const known = this.#known(sent);
    if (known && !known.isDone && known.callId === sent.callId) return [];
    return this.#announce(this.#begin(sent), sent);
  }

  /** A piece of a text or of arguments, as an event of this type. */
  piece(kind: ItemKind, type: string, event: WireEvent): WireEvent[] {
    const { delta } = event;
    if (typeof delta !== "string" || delta === "") return [];
    const { item, opening } = this.#itemOf(kind, event);
    if (item.isDone) return [];
    item.hasSpoken = true;
    if (kind === "function_call") item.argumentPieces.push(delta);
    return item.isAnnounced ? [...opening, pieceOf(item, type, delta, event.summary_index)] : [];
  }

  /** `response.function_call_arguments.done`, for a server that sends no pieces. */
  arguments(event: WireEvent): WireEvent[] {
    const { item } = this.#itemOf("function_call", event);
    const text = readArguments(event.arguments);
    if (!item.isDone && item.argumentPieces.length === 0 && text !== undefined) item.argumentPieces.push(text);
    return [];
  }

  /** A part of a summary begins or ends. */
  summaryPart(event: WireEvent): WireEvent[] {
    const index = asIndex(event.summary_index);
    const { item, opening } = this.#itemOf("reasoning", event);
    if (item.isDone || index === undefined) return opening;
    return [...opening, { type: event.type, item_id: item.id, summary_index: index }];
  }

  /** `response.output_item.done`. */
  finish({ item, output_index: place }: WireEvent): WireEvent[] {
    const sent = readItem(item, place);
    return sent ? this.#finish(this.#find(sent) ?? this.#begin(sent), sent) : [];
  }

  /**
   * The reply is over: what was never finished, what the reply holds of a kind that did not come before, and calls that did
   * not come before.
   */
  end(output: unknown): WireEvent[] {
    const told = (Array.isArray(output) ? output : []).flatMap((item) => readItem(item, undefined) ?? []);
    const streamed = new Set(this.#items.map(({ kind }) => kind));
    const missed = new Set(missedCalls(told, this.#items));
    const late = told.flatMap((sent) => {
      const isNew = !streamed.has(sent.kind) || missed.has(sent);
      const item = this.#known(sent) ?? (isNew ? this.#begin(sent) : undefined);
      return item ? this.#finish(item, sent) : [];
    });
    const open = this.#items.flatMap((item) =>
      this.#finish(item, { kind: item.kind, id: item.id, outputIndex: item.outputIndex }),
    );
    return [...late, ...open];
  }

  #itemOf(kind: ItemKind, event: WireEvent): { item: Item; opening: WireEvent[] } {
    const sent: SentItem = { kind, id: written(event.item_id), outputIndex: asIndex(event.output_index) };
    const found = this.#find(sent);
    if (found) return { item: found, opening: [] };
    const item = this.#begin(sent);
    return { item, opening: this.#announce(item, sent) };
  }

  /** The item by its id. */
  #known({ kind, id }: SentItem): Item | undefined {
    return this.#byId.get(`${kind} ${id}`);
  }

  /** The item by its id, else the open one at its place, else the one that can be meant. */
  #find(sent: SentItem): Item | undefined {
    const known = this.#known(sent);
    if (known) return known;
    const open = this.#items.filter(({ kind, isDone }) => kind === sent.kind && !isDone);
    const there = open.findLast(({ outputIndex }) => outputIndex !== undefined && outputIndex === sent.outputIndex);
    if (there || sent.callId === undefined) return there ?? open.at(-1);
    return open.find(({ callId }) => callId === sent.callId || callId === undefined);
  }

  #begin({ kind, id, outputIndex, callId, name }: SentItem): Item {
    const index = this.#items.length;
    const item: Item = {
      kind,
      id: id ?? marked("", index),
      index,
      outputIndex,
      callId,
      name,
      isAnnounced: false,
      isDone: false,
      hasSpoken: false,
      argumentPieces: [],
    };
    this.#items.push(item);
    if (id !== undefined) this.#byId.set(`${kind} ${id}`, item);
    return item;
  }

  #announce(item: Item, { phase, extra }: SentItem): WireEvent[] {
    const fields = { type: item.kind, id: item.id, ...(phase && { phase }), ...extra };
    if (item.kind !== "function_call") {
      item.isAnnounced = true;
      return [itemEvent("added", item, fields)];
    }
    if (item.name === undefined) return [];
    item.isAnnounced = true;
    const isDistinct = item.callId !== undefined && !this.#callIds.has(item.callId);
    if (!isDistinct) item.callId = marked(item.callId ?? "", item.index);
    this.#callIds.add(item.callId ?? "");
    return [itemEvent("added", item, { ...fields, call_id: item.callId, name: item.name, arguments: "" })];
  }

  #finish(item: Item, sent: SentItem): WireEvent[] {
    if (item.isDone) return [];
    item.callId ??= sent.callId;
    item.name ??= sent.name ?? "";
    const opening = item.isAnnounced ? [] : this.#announce(item, sent);
    item.isDone = true;
    if (item.argumentPieces.length === 0) item.argumentPieces.push(sent.argumentsText ?? "");
    const late = item.hasSpoken ? [] : saidAtTheEnd(item, sent);
    return [...opening, ...late, itemEvent("done", item, doneFields(item, sent))];
  }
}

function itemEvent(moment: "added" | "done", { index }: Item, item: Record<string, unknown>): WireEvent {
  return { type: `response.output_item.${moment}`, output_index: index, item };
}

function pieceOf({ id, index }: Item, type: string, delta: string, summaryIndex: unknown): WireEvent {
  return { type, item_id: id, output_index: index, summary_index: asIndex(summaryIndex) ?? 0, delta };
}

function doneFields(item: Item, sent: SentItem): Record<string, unknown> {
  const { kind, id, callId, name, argumentPieces } = item;
  if (kind === "message") return { type: kind, id, ...(sent.phase && { phase: sent.phase }) };
  if (kind === "reasoning") return { type: kind, id, encrypted_content: sent.encryptedContent ?? null };
  return {
    type: kind,
    id,
    call_id: callId,
    name,
    arguments: argumentPieces.join(""),
    status: "completed",
    ...sent.extra,
  };
}

/** The text of an item of which no piece came. */
function saidAtTheEnd(item: Item, { said = [] }: SentItem): WireEvent[] {
  if (item.kind === "message") {
    return said.map(({ text, isRefusal }) => pieceOf(item, isRefusal ? REFUSAL_DELTA : TEXT_DELTA, text, 0));
  }
  return said.flatMap(({ text }, i) => {
    const part = (moment: string, index: number): WireEvent => ({
      type: `response.reasoning_summary_part.${moment}`,
      item_id: item.id,
      summary_index: index,
    });
    const borders = i === 0 ? [] : [part("done", i - 1), part("added", i)];
    return [...borders, pieceOf(item, THINKING_DELTA, text, i)];
  });
}

export const TEXT_DELTA = "response.output_text.delta";
export const REFUSAL_DELTA = "response.refusal.delta";
export const THINKING_DELTA = "response.reasoning_summary_text.delta";
