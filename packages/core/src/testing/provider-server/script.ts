import type { ScriptedCall, ScriptedReply } from "../scripted-llm.ts";
import { FAULT_KINDS, type ProviderFault } from "./faults.ts";

/** A call as a provider makes it; `args` may be text, to be sent as it is. Default id: `call_1`, `call_2` … of the server. */
export type ProviderCall = Omit<ScriptedCall, "stopReason">;

/** An image the model made; only `google` has them. */
export interface ProviderImage {
  /** Base64. */
  readonly data: string;
  readonly mediaType: string;
}

/** One piece of a reply. */
export type ProviderPart =
  | { readonly thinking: string }
  | { readonly text: string }
  | { readonly image: ProviderImage }
  | { readonly call: ProviderCall };

/** One reply: thinking, then text, then images, then calls; or `parts` in an order of their own, in place of all four. */
export interface ProviderReply extends Pick<ScriptedReply, "thinking" | "text" | "finishReason" | "usage"> {
  readonly images?: readonly ProviderImage[];
  readonly calls?: readonly ProviderCall[];
  readonly parts?: readonly ProviderPart[];
  /** Code points of one delta; default 16. */
  readonly deltaCharacters?: number;
  readonly fault?: ProviderFault;
}

/** A reply of a list. */
export interface ProviderTurn extends ProviderReply {
  /** One for each attempt, each of which takes a request; the attempt after the last one goes well. */
  readonly faults?: readonly ProviderFault[];
}

/** A list, one reply a request, or a function of the request, which may wait as long as it likes. */
export type ProviderScript<Request> =
  | readonly (string | ProviderTurn)[]
  | ((request: Request) => string | ProviderReply | Promise<string | ProviderReply>);

/**
 * The script as a function of the request.
 *
 * @throws {RangeError} For a number that cannot be, and for a word that is not known; at once if it is in a list.
 */
export function readScript<Request>(script: ProviderScript<Request>): (request: Request) => Promise<ProviderReply> {
  if (typeof script === "function") return async (request) => checked(await script(request));
  const attempts = script.flatMap(attemptsOf);
  for (const reply of attempts) checked(reply);
  let next = 0;
  return async () => {
    const reply = attempts[next++];
    if (reply) return reply;
    throw new RangeError(`the script has ${count(script.length, "reply", "replies")} and no more`);
  };
}

/** The pieces of a reply in their order; texts of nothing are none. */
export function partsOf(reply: ProviderReply): readonly ProviderPart[] {
  const { thinking, text, images = [], calls = [] } = reply;
  const parts = reply.parts ?? [
    ...(thinking === undefined ? [] : [{ thinking }]),
    ...(text === undefined ? [] : [{ text }]),
    ...images.map((image) => ({ image })),
    ...calls.map((call) => ({ call })),
  ];
  return parts.filter((part) => !("text" in part && part.text === ""));
}

function attemptsOf(turn: string | ProviderTurn): ProviderReply[] {
  if (typeof turn === "string") return [{ text: turn }];
  const { faults = [], ...reply } = turn;
  return [...faults.map((fault) => ({ ...reply, fault })), reply];
}

function checked(reply: string | ProviderReply): ProviderReply {
  if (typeof reply === "string") return { text: reply };
  checkWords("key of a scripted reply", Object.keys(reply), REPLY_KEYS);
  checkCount("deltaCharacters", reply.deltaCharacters, 1);
  const { fault } = reply;
  if (fault) checkWords("fault", [fault.kind], FAULT_KINDS);
  if (fault?.kind === "byte-chunks") checkCount("bytes", fault.bytes, 1);
  if (fault && "afterEvents" in fault) checkCount("afterEvents", fault.afterEvents, 0);
  if (fault?.kind === "bad-json") checkCount("atEvent", fault.atEvent, 0);
  return reply;
}

const REPLY_KEYS = "thinking text finishReason usage images calls parts deltaCharacters fault".split(" ");

/** A misspelt word would make a test that cannot fail. */
function checkWords(what: string, words: readonly string[], known: readonly string[]): void {
  const odd = words.find((word) => !known.includes(word));
  if (odd === undefined) return;
  throw new RangeError(`${JSON.stringify(odd)} is no ${what}; known are ${known.join(", ")}`);
}

function checkCount(name: string, value: number | undefined, least: number): void {
  if (value === undefined || (Number.isInteger(value) && value >= least)) return;
  throw new RangeError(`${name} of a scripted reply must be an integer of at least ${least}, got ${value}`);
}

function count(number: number, one: string, many: string): string {
  return `${number} ${number === 1 ? one : many}`;
}
