import { errorText } from "../errors/error-text.ts";
import { shorten } from "./shorten.ts";

const MAX_DETAILS_BYTES = 64 * 1024;
/** Of its JSON text; small enough to stay below the limit when it is escaped once more. */
const PREVIEW_CHARS = 8 * 1024;

/**
 * What a tool says for people and programs, as plain JSON: a copy that later changes do not reach.
 *
 * @returns `undefined` when there is nothing JSON can say; more than 64 KiB become `{ truncated, bytes, preview }`, and
 *   what cannot be made JSON (a cycle, a BigInt) becomes `{ error }`.
 */
export function jsonDetails(details: unknown): unknown {
  try {
    const json = JSON.stringify(details) as string | undefined;
    if (json === undefined) return undefined;
    const bytes = Buffer.byteLength(json);
    if (bytes > MAX_DETAILS_BYTES) return { truncated: true, bytes, preview: shorten(json, PREVIEW_CHARS) };
    return JSON.parse(json);
  } catch (error) {
    return { error: `these details cannot be made JSON: ${shorten(errorText(error), 500)}` };
  }
}
