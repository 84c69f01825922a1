import { isJsonObject, jsonText } from "../../json-value.ts";
import { type Phase, readPhase } from "./own-fidelity.ts";

export type ItemKind = "message" | "reasoning" | "function_call";

/** An item of a reply as a server sends it; whatever is not as it should be counts as absent. */
export interface SentItem {
  readonly kind: ItemKind;
  readonly id: string | undefined;
  readonly outputIndex: number | undefined;
  readonly callId?: string | undefined;
  readonly name?: string | undefined;
  readonly argumentsText?: string | undefined;
  /** What the protocol says of a call besides. */
  readonly extra?: Readonly<Record<string, unknown>>;
  readonly phase?: Phase | undefined;
  readonly encryptedContent?: string | undefined;
  /** What a message or its reasoning says, part by part. */
  readonly said?: readonly Said[];
}

export interface Said {
  readonly text: string;
  readonly isRefusal: boolean;
}

/** Reads an item of a kind that makes up a reply; items of the service's own tools are none. */
export function readItem(item: unknown, outputIndex: unknown): SentItem | undefined {
  if (!isJsonObject(item)) return undefined;
  const place = { id: written(item.id), outputIndex: asIndex(outputIndex) };
  switch (item.type) {
    case "message":
      return { kind: "message", ...place, phase: readPhase(item.phase), said: saidIn(item.content) };
    case "reasoning": {
      const summary = saidIn(item.summary);
      const said = summary.length > 0 ? summary : saidIn(item.content);
      return { kind: "reasoning", ...place, encryptedContent: written(item.encrypted_content), said };
    }
    case "function_call":
      return {
        kind: "function_call",
        ...place,
        callId: written(item.call_id),
        name: written(item.name),
        argumentsText: readArguments(item.arguments),
        extra: {
          ...(typeof item.async === "boolean" && { async: item.async }),
          ...(written(item.namespace) !== undefined && { namespace: item.namespace }),
        },
      };
    default:
      return undefined;
  }
}

/** Arguments as text; a server may send them as an object. */
export function readArguments(value: unknown): string | undefined {
  if (typeof value === "string") return value === "" ? undefined : value;
  return isJsonObject(value) ? (jsonText(value) ?? TOO_DEEP) : undefined;
}

/** No JSON, so that the call is answered and not run. */
const TOO_DEEP = "[arguments nested too deeply to be written as text]";

/** A text with something in it. */
export function written(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value : undefined;
}

export function asIndex(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}

function saidIn(parts: unknown): Said[] {
  if (typeof parts === "string") return saidIn([{ text: parts }]);
  if (!Array.isArray(parts)) return [];
  return parts.filter(isJsonObject).flatMap(({ text, refusal }): Said[] => {
    if (typeof text === "string" && text !== "") return [{ text, isRefusal: false }];
    return typeof refusal === "string" && refusal !== "" ? [{ text: refusal, isRefusal: true }] : [];
  });
}
