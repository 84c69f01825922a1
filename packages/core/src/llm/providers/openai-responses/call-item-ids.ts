import type { LanguageModelV3Prompt } from "@ai-sdk/provider";
import { readOptions } from "./own-fidelity.ts";

/** The item ids of the calls in a prompt, by their call ids. */
export function callItemIds(prompt: LanguageModelV3Prompt): ReadonlyMap<string, string> {
  const calls = prompt.flatMap((message) => (message.role === "assistant" ? message.content : []));
  return new Map(
    calls.flatMap((part): [string, string][] => {
      const id = part.type === "tool-call" ? readOptions(part.providerOptions).itemId : undefined;
      return part.type === "tool-call" && id !== undefined ? [[part.toolCallId, id]] : [];
    }),
  );
}

/** The body of a request with the item ids of its calls, which the package leaves out. */
export function withCallItemIds(body: string, ids: ReadonlyMap<string, string>): string {
  if (ids.size === 0) return body;
  return body.replace(CALL, (call, callId: string) => {
    const id = ids.get(JSON.parse(callId));
    return id === undefined ? call : `{"id":${JSON.stringify(id)},${call.slice(1)}`;
  });
}

/** The beginning of a call as the package writes it; inside a string of the body its quotes would be escaped. */
const CALL = /\{"type":"function_call","call_id":("(?:[^"\\]|\\.)*")/g;
