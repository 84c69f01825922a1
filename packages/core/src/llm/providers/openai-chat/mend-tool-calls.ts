import { isJsonObject, jsonText, parseJson } from "../../json-value.ts";
import { marked } from "../provider.ts";

/** A piece of a call as a server sends it; whatever is not as it should be counts as absent. */
interface Piece {
  readonly index: number | undefined;
  readonly id: string | undefined;
  readonly name: string | undefined;
  readonly argumentsText: string;
  /** Whatever else it holds. */
  readonly rest: Record<string, unknown>;
}

interface Call {
  /** Its place among the calls of the reply. */
  readonly index: number;
  /** Where the server put it. */
  readonly serverIndex: number;
  id: string | undefined;
  name: string | undefined;
  /** All its arguments so far. */
  readonly argumentPieces: string[];
  rest: Record<string, unknown>;
  /** Its name came again without arguments: those that follow may be another call's. */
  repeated: boolean;
}

/**
 * Gives every call of one reply an index and an id of its own, whatever the server does with them, and gathers the pieces
 * of each under it.
 *
 * Servers send all calls at index 0, leave the index out, give two calls one id, leave ids out, repeat id and name with
 * every piece, change the id on the way, name a call late or not at all, send arguments as `null` or as an object, and a
 * whole call twice over.
 */
export class ToolCallMender {
  readonly #calls: Call[] = [];
  readonly #latestAt = new Map<number, Call>();
  readonly #byId = new Map<string, Call>();
  readonly #announcedIds = new Set<string>();

  /** The pieces of one event as they should have been sent; a call is held back until its name is known. */
  mend(toolCalls: readonly unknown[]): Record<string, unknown>[] {
    return toolCalls.filter(isJsonObject).flatMap((toolCall, position) => this.#place(readPiece(toolCall), position));
  }

  /** At the end: calls that have an id and were never named, under an empty name. */
  nameless(): Record<string, unknown>[] {
    const calls = this.#calls.filter((call) => call.name === undefined && call.id !== undefined);
    return calls.map((call) => this.#announce(call, NO_NAME));
  }

  #place(sent: Piece, position: number): Record<string, unknown>[] {
    const candidate = this.#candidate(sent, position);
    if (candidate && repeats(candidate, sent)) return [];
    const piece = candidate?.repeated ? { ...sent, id: sent.id ?? candidate.id, name: candidate.name } : sent;
    const call = candidate && !beginsAnother(candidate, piece) ? candidate : this.#begin(piece, position);
    if (piece.id !== undefined && !this.#byId.has(piece.id)) this.#byId.set(piece.id, call);
    call.argumentPieces.push(piece.argumentsText);
    if (call.name !== undefined) {
      call.repeated ||= piece.name !== undefined && piece.argumentsText.trim() === "";
      return [{ ...piece.rest, index: call.index, function: { arguments: piece.argumentsText } }];
    }
    call.id ??= piece.id;
    call.rest = { ...call.rest, ...withoutNulls(piece.rest) };
    return piece.name === undefined ? [] : [this.#announce(call, piece.name)];
  }

  /** The call a piece would continue, if it does not begin one. */
  #candidate({ index, id, name }: Piece, position: number): Call | undefined {
    const known = id === undefined ? undefined : this.#byId.get(id);
    if (known && (index === undefined || index === known.serverIndex)) return known;
    const there = index === undefined && name === undefined ? undefined : this.#latestAt.get(index ?? position);
    if (there || name !== undefined) return there;
    const mayBeNamedLater = id !== undefined && index !== undefined;
    return known ?? (mayBeNamedLater ? undefined : this.#calls.at(-1));
  }

  #begin({ index, id }: Piece, position: number): Call {
    const serverIndex = index ?? position;
    const call: Call = {
      index: this.#calls.length,
      serverIndex,
      id: undefined,
      name: undefined,
      argumentPieces: [],
      rest: {},
      repeated: false,
    };
    this.#calls.push(call);
    this.#latestAt.set(serverIndex, call);
    if (id !== undefined) this.#byId.set(id, call);
    return call;
  }

  #announce(call: Call, name: string): Record<string, unknown> {
    call.name = name;
    const isRepeated = call.id === undefined || this.#announcedIds.has(call.id);
    const id = isRepeated ? marked(call.id ?? "", call.index) : (call.id ?? "");
    this.#announcedIds.add(id);
    return { ...call.rest, index: call.index, id, function: { name, arguments: call.argumentPieces.join("") } };
  }
}

/** A name that stands for none: the package under us drops calls whose name is empty. */
const NO_NAME = marked("", "");

/** A second call at a place that is taken: it has a name, and the one before cannot go on with what it brings. */
function beginsAnother(call: Call, { id, name, argumentsText }: Piece): boolean {
  if (name === undefined || call.name === undefined) return false;
  if (name !== call.name || (id !== undefined && call.id !== undefined && id !== call.id)) return true;
  const isBegun = /^\s*[{[]/.test(argumentsText);
  const mayBeWhole = /[}\]]\s*$/.test(call.argumentPieces.findLast((piece) => piece.trim() !== "") ?? "");
  return isBegun && mayBeWhole && parseJson(call.argumentPieces.join("")) !== undefined;
}

/** A whole call that comes again in one piece, the same in all it says. */
function repeats(call: Call, { index, id, name, argumentsText }: Piece): boolean {
  const isTheSame = index === call.serverIndex && id !== undefined && id === call.id && name === call.name;
  if (!isTheSame || parseJson(argumentsText) === undefined) return false;
  return argumentsText === call.argumentPieces.join("");
}

function withoutNulls(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}

function readPiece({ index, id, function: body, ...rest }: Record<string, unknown>): Piece {
  const { name, arguments: args } = isJsonObject(body) ? body : {};
  return {
    index: typeof index === "number" ? index : undefined,
    id: written(id),
    name: written(name),
    argumentsText: typeof args === "string" ? args : isJsonObject(args) ? (jsonText(args) ?? TOO_DEEP) : "",
    rest,
  };
}

/** No JSON, so that the call is answered and not run. */
const TOO_DEEP = "[arguments nested too deeply to be written as text]";

function written(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value : undefined;
}
