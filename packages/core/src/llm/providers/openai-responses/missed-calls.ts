import { jsonText, parseJson } from "../../json-value.ts";
import { unmarked } from "../provider.ts";
import type { ItemKind, SentItem } from "./sent-item.ts";

/** What came before of an item. */
interface StreamedItem {
  readonly kind: ItemKind;
  readonly id: string;
  readonly callId: string | undefined;
  readonly name: string | undefined;
  readonly argumentPieces: readonly string[];
}

/**
 * The calls that only the end of a reply tells of. One that came before is known again by its ids or by what it says; since
 * servers make up new ids for the end, of the calls that are not known again as many have come before as calls that came.
 */
export function missedCalls(told: readonly SentItem[], items: readonly StreamedItem[]): readonly SentItem[] {
  const streamed = items.filter(({ kind }) => kind === "function_call");
  const unknown = told.filter(
    (sent) => sent.kind === "function_call" && !takeFirst(streamed, (item) => isSame(item, sent)),
  );
  return unknown.filter((sent) => !takeFirst(streamed, (item) => saysTheSame(item, sent))).slice(streamed.length);
}

function isSame({ id, callId }: StreamedItem, sent: SentItem): boolean {
  return id === sent.id || (sent.callId !== undefined && unmarked(callId ?? "") === sent.callId);
}

function saysTheSame({ name, argumentPieces }: StreamedItem, sent: SentItem): boolean {
  return name === sent.name && compact(argumentPieces.join("")) === compact(sent.argumentsText ?? "");
}

/** JSON without what is between its signs; any other text as it is. */
function compact(text: string): string {
  return jsonText(parseJson(text)) ?? text;
}

/** Takes the first item that fits out of the list. @returns Whether there was one. */
function takeFirst(items: StreamedItem[], fits: (item: StreamedItem) => boolean): boolean {
  const at = items.findIndex(fits);
  if (at !== -1) items.splice(at, 1);
  return at !== -1;
}
