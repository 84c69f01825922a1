import { isJsonObject } from "../../json-value.ts";

/** The candidate of an event: only one is asked for. */
export function candidateOf({ candidates }: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const first: unknown = Array.isArray(candidates) ? candidates[0] : undefined;
  return isJsonObject(first) ? first : {};
}

export function partsOf(content: unknown): Record<string, unknown>[] {
  return isJsonObject(content) && Array.isArray(content.parts) ? content.parts.filter(isJsonObject) : [];
}

/** A reason, if one is given: the default of the protocol says none. */
export function reasonOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" && !value.endsWith("_UNSPECIFIED") ? value : undefined;
}

/** True for an event that may be of this protocol. */
export function isOwn(event: Readonly<Record<string, unknown>>): boolean {
  return OWN_FIELDS.some((name) => name in event);
}

const OWN_FIELDS = ["candidates", "usageMetadata", "promptFeedback", "modelVersion", "responseId", "error"];
