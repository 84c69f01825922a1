import { isJsonObject } from "../../json-value.ts";
import { dataOf } from "../event-stream.ts";

/**
 * The error that an event of the stream tells of, whichever way servers mark one: under `error`, as an `object` or `type` that
 * is `error`, or by the name of the event alone; `undefined` for any other event.
 *
 * @param value - The data of the event as JSON; `undefined` where it is none.
 */
export function toldError(value: unknown, event: string): unknown {
  const { error, object, type } = isJsonObject(value) ? value : {};
  if (error) return error;
  return object === "error" || type === "error" || NAMED.test(event) ? (value ?? dataOf(event)) : undefined;
}

const NAMED = /^event: ?error\s*$/m;
