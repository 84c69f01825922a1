import { errorText } from "../errors/error-text.ts";
import { isRecord } from "../omnimessage/shape.ts";
import { shorten } from "./shorten.ts";

const MAX_QUOTE_CHARS = 200;
const SEND_AGAIN = "send the call again with one JSON object";

/**
 * Reads the argument text of a call, or says for the model what is wrong with it. An empty text counts as `{}`; a key
 * `__proto__` is dropped wherever it stands.
 */
export function parseArguments(
  toolName: string,
  text: string,
): { readonly value: unknown } | { readonly error: string } {
  if (text.trim() === "") return { value: {} };
  try {
    return { value: JSON.parse(text, (key, value: unknown) => (key === "__proto__" ? undefined : value)) };
  } catch (error) {
    const text = `the arguments of ${toolName} are not JSON (${errorText(error)}); ${SEND_AGAIN}`;
    return { error: nestingError(toolName, error) ?? text };
  }
}

/** What the model reads where reading its arguments went deeper than the stack; absent for any other error. */
export function nestingError(toolName: string, error: unknown): string | undefined {
  if (!(error instanceof RangeError && error.message.includes("call stack"))) return undefined;
  return `the arguments of ${toolName} are nested too deeply; send the call again with flatter ones`;
}

/** The arguments as the object they must be, or what is wrong with them. */
export function argumentObject(
  toolName: string,
  value: unknown,
): { readonly args: Record<string, unknown> } | { readonly error: string } {
  if (isRecord(value)) return { args: value };
  const got = shorten(JSON.stringify(value) ?? String(value), MAX_QUOTE_CHARS);
  return { error: `the arguments of ${toolName} must be a JSON object, got ${got}; ${SEND_AGAIN}` };
}
