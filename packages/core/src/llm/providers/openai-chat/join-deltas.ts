import { isJsonObject, jsonText, parseJson } from "../../json-value.ts";

/**
 * Joins the events of a reply that arrived together: text with the text before it, thinking with thinking, pieces of calls
 * with pieces of calls, and the end and usage with what they end. Each event costs several streams of the package a pass; of a fast
 * model dozens arrive at once, and nobody can tell them apart any more.
 *
 * An event that holds anything else stays as it is, and in its place.
 *
 * @param events - Whole events, as latin1 text.
 */
export function joinDeltas(events: string): string {
  if (!/\n\n./.test(events)) return events;
  const joined: (string | Delta)[] = [];
  for (const event of events.split(/(?<=\n\n)/)) {
    const last = joined.at(-1);
    if (typeof last === "object" && addUsage(last, event)) continue;
    const delta = readDelta(event);
    if (!delta) joined.push(event);
    else if (typeof last !== "object" || !extend(last, delta)) joined.push(delta);
  }
  return joined.map((entry) => (typeof entry === "string" ? entry : write(entry))).join("");
}

type Kind = "content" | "reasoning_content" | "reasoning" | "tool_calls";

interface Delta {
  /** As they came; one alone stays as it is. */
  readonly events: string[];
  readonly chunk: Record<string, unknown>;
  readonly choice: Record<string, unknown>;
  /** Absent: nothing but a role or the end. */
  kind: Kind | undefined;
  said: unknown[];
}

function readDelta(event: string): Delta | undefined {
  const chunk = chunkIn(event);
  if (!chunk || "error" in chunk || !isNothing(chunk.usage)) return undefined;
  const [choice, ...choices] = Array.isArray(chunk.choices) ? chunk.choices : [];
  if (!isJsonObject(choice) || choices.length > 0 || choice.message !== undefined || !mayEnd(choice)) return undefined;
  const delta = choice.delta ?? {};
  if (!isJsonObject(delta)) return undefined;
  const [kind, ...others] = Object.keys(delta).filter((name) => name !== "role" && !isNothing(delta[name]));
  if (kind === undefined) return { events: [event], chunk, choice, kind, said: [] };
  const value = delta[kind];
  const said = kind === "tool_calls" ? value : typeof value === "string" ? [value] : undefined;
  if (others.length > 0 || !isKind(kind) || !Array.isArray(said)) return undefined;
  return { events: [event], chunk, choice, kind, said };
}

function chunkIn(event: string): Record<string, unknown> | undefined {
  if (!event.startsWith('data: {"') || event.lastIndexOf("\n", event.length - 3) !== -1) return undefined;
  const chunk = parseJson(Buffer.from(event.slice(6), "latin1").toString());
  return isJsonObject(chunk) ? chunk : undefined;
}

function mayEnd({ finish_reason: reason }: Record<string, unknown>): boolean {
  return isNothing(reason) || typeof reason === "string";
}

function isNothing(value: unknown): boolean {
  return value === undefined || value === null || value === "" || (Array.isArray(value) && value.length === 0);
}

function isKind(key: string): key is Kind {
  return key === "content" || key === "reasoning_content" || key === "reasoning" || key === "tool_calls";
}

/** @returns Whether `next` is in `delta` now. */
function extend(delta: Delta, next: Delta): boolean {
  const isSameKind = delta.kind === undefined || delta.kind === next.kind;
  if (next.kind !== undefined && (delta.choice.finish_reason || !isSameKind)) return false;
  delta.events.push(...next.events);
  delta.kind ??= next.kind;
  delta.said.push(...next.said);
  if (next.choice.finish_reason) delta.choice.finish_reason = next.choice.finish_reason;
  return true;
}

/** Usage that follows the end, where it holds numbers and nothing else. @returns Whether it is in `delta` now. */
function addUsage(delta: Delta, event: string): boolean {
  if (!delta.choice.finish_reason || !event.includes('"usage"')) return false;
  const chunk = chunkIn(event);
  if (!Array.isArray(chunk?.choices) || chunk.choices.length > 0 || "error" in chunk || !isPlainUsage(chunk.usage))
    return false;
  delta.events.push(event);
  delta.chunk.usage = chunk.usage;
  return true;
}

function isPlainUsage(usage: unknown): boolean {
  return (
    isJsonObject(usage) &&
    Object.entries(usage).every(([key, value]) => {
      if (value === null) return true;
      return key.endsWith("_details") ? isCounts(value) : typeof value === "number";
    })
  );
}

function isCounts(value: unknown): boolean {
  return isJsonObject(value) && Object.values(value).every((count) => count === null || typeof count === "number");
}

function write({ events, chunk, choice, kind, said }: Delta): string {
  if (events.length === 1) return events.join("");
  const delta = kind ? { [kind]: kind === "tool_calls" ? said : said.join("") } : {};
  const text = jsonText({ ...chunk, choices: [{ ...choice, delta }] });
  return text === undefined ? events.join("") : `data: ${Buffer.from(text).toString("latin1")}\n\n`;
}
