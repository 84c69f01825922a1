import { isJsonObject } from "../../json-value.ts";
import { isLimit } from "../limit-words.ts";
import type { WireEvent } from "./wire-event.ts";

/** The end of a reply with what the package reads of it; what is not as it should be is left out. */
export function endEvent(type: "response.completed" | "response.incomplete", response: unknown): WireEvent {
  const { incomplete_details: details, usage } = isJsonObject(response) ? response : {};
  const reason = type === "response.incomplete" ? reasonIn(details) : undefined;
  return {
    type,
    response: { incomplete_details: reason === undefined ? null : { reason }, usage: usageOf(usage) },
  };
}

function reasonIn(details: unknown): string {
  const reason = isJsonObject(details) ? details.reason : undefined;
  if (typeof reason !== "string") return "unknown";
  return isLimit(reason) ? "max_output_tokens" : reason;
}

function usageOf(usage: unknown): Record<string, unknown> | null {
  if (!isJsonObject(usage) || !(isCount(usage.input_tokens) || isCount(usage.output_tokens))) return null;
  const { input_tokens: input, output_tokens: output } = usage;
  return {
    input_tokens: isCount(input) ? input : 0,
    input_tokens_details: countsIn(usage.input_tokens_details, "cached_tokens", "cache_write_tokens"),
    output_tokens: isCount(output) ? output : 0,
    output_tokens_details: countsIn(usage.output_tokens_details, "reasoning_tokens"),
  };
}

function countsIn(details: unknown, ...names: string[]): Record<string, unknown> {
  if (!isJsonObject(details)) return {};
  return Object.fromEntries(names.flatMap((name) => (isCount(details[name]) ? [[name, details[name]]] : [])));
}

function isCount(value: unknown): value is number {
  return typeof value === "number";
}
