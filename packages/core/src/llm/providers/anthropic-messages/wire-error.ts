import { isJsonObject, jsonText } from "../../json-value.ts";
import { cut } from "../event-stream.ts";
import { BROKEN_REPLY } from "../provider.ts";
import type { WireEvent } from "./mend-blocks.ts";

/** An error as a server said it. The package wants a type and a message, and passes over anything else that an error says. */
export function errorEvent(value: Readonly<Record<string, unknown>>): WireEvent {
  const error = isJsonObject(value.error) ? value.error : { message: value.error ?? value.message };
  const type =
    [error.type, error.code, error.status].find((name) => typeof name === "string" && name !== "") ?? "error";
  const message = typeof error.message === "string" ? error.message : cut(jsonText(error) ?? "unknown");
  return failure(String(type), message);
}

/** An error that says that the reply broke off. */
export function brokenEvent(message: string): WireEvent {
  return failure(BROKEN_REPLY, message);
}

export function failure(type: string, message: string): WireEvent {
  return { type: "error", error: { type, message } };
}
