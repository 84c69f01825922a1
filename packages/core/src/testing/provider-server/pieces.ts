import { createHash } from "node:crypto";
import { isJsonObject, parseJson } from "../../llm/json-value.ts";
import type { ProviderPart } from "./script.ts";

interface SealedPiece {
  /** What the provider wants back with the piece, byte for byte, by the protocol's names. */
  readonly fidelity?: Readonly<Record<string, string>>;
}

interface ProsePiece extends SealedPiece {
  readonly kind: "thinking" | "text";
  readonly content: string;
  /** Need not come back. */
  readonly optional?: true;
}

export interface CallPiece extends SealedPiece {
  readonly kind: "call";
  /** The arguments as text. */
  readonly content: string;
  readonly name: string;
  readonly id?: string;
}

interface ImagePiece extends SealedPiece {
  readonly kind: "image";
  /** Base64. */
  readonly content: string;
  readonly mediaType: string;
}

/** A piece of a reply as a protocol gives it out and as later requests hold it. */
export type Piece = ProsePiece | CallPiece | ImagePiece;

/** What answers a call: by its id, or in a protocol without ids by the name of the tool. */
export interface Answer {
  readonly id?: string;
  readonly name?: string;
}

/** A stretch of a conversation that one side said. */
export type Turn =
  | { readonly role: "assistant"; readonly pieces: readonly Piece[] }
  | { readonly role: "user"; readonly answers: readonly Answer[] };

/** A part of a reply as a piece without fidelity, none for an image; `callId` names a call that the script does not. */
export function plainPieces(part: ProviderPart, callId: () => string): Piece[] {
  if ("thinking" in part) return [{ kind: "thinking", content: part.thinking }];
  if ("text" in part) return [{ kind: "text", content: part.text }];
  if ("image" in part) return [];
  const { name, args, id = callId() } = part.call;
  return [{ kind: "call", name, id, content: argumentsText(args) }];
}

/** The text of a call's arguments. */
export function argumentsText(args: unknown): string {
  return typeof args === "string" ? args : JSON.stringify(args ?? {});
}

/** What a provider would sign or encrypt: the same for the same content, and not to be guessed from it. */
export function seal(kind: string, content: string): string {
  return createHash("sha256").update(`${kind}\n${content}`).digest("base64");
}

/** Joins neighbouring turns of one side. */
export function joinTurns(turns: readonly Turn[]): Turn[] {
  const joined: Turn[] = [];
  for (const turn of turns) {
    const last = joined.at(-1);
    if (last?.role === "assistant" && turn.role === "assistant") {
      joined[joined.length - 1] = { role: "assistant", pieces: [...last.pieces, ...turn.pieces] };
    } else if (last?.role === "user" && turn.role === "user") {
      joined[joined.length - 1] = { role: "user", answers: [...last.answers, ...turn.answers] };
    } else joined.push(turn);
  }
  return joined;
}

/** The objects of what should be a list of objects. */
export function objectsOf(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

/** The text of what should be one. */
export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** The text of a content that is one, or a list of parts with a field `text`. */
export function contentText(content: unknown): string {
  return typeof content === "string"
    ? content
    : objectsOf(content)
        .map(({ text }) => textOf(text))
        .join("");
}

/** The fields that are texts; absent when there is none. */
export function fidelityOf(fields: Record<string, unknown>): { fidelity?: Record<string, string> } {
  const texts = Object.entries(fields).filter((field): field is [string, string] => typeof field[1] === "string");
  return texts.length > 0 ? { fidelity: Object.fromEntries(texts) } : {};
}

/** The arguments as an object; `undefined` for a text that holds none. */
export function parsedArguments({ content }: CallPiece): Record<string, unknown> | undefined {
  const value = parseJson(content);
  return isJsonObject(value) ? value : undefined;
}
