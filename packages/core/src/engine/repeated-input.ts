import { userText } from "../omnimessage/build.ts";
import { isType } from "../omnimessage/guards.ts";
import type { OmniMessage } from "../omnimessage/message.ts";
import { asPast } from "./goal/past-goal.ts";

/** Characters that stay of a text, half of them of its beginning: some thousand tokens, little of any context. */
const MAX_CHARS = 16_000;

/**
 * The input of a run that is over, as the next one says it again: that of a goal as something past. Of what is long and was in
 * a request that did not fit a part stays, since all that comes after would not fit either: of a text its beginning and its
 * end, of data a note.
 *
 * @param didNotFit - Whether that run, or a later one that said it again, ended as `context-overflow`.
 */
export function repeatedInput(message: OmniMessage, didNotFit: boolean): OmniMessage {
  const past = asPast(message);
  if (!didNotFit) return past;
  if (isType(past, "text")) return { ...past, payload: { ...past.payload, text: ends(past.payload.text) } };
  const isLongData = isType(past, "inline_data") && past.payload.data.length > MAX_CHARS;
  return isLongData ? userText(`[${past.payload.mime_type} data left out: ${REASON}]`, "harness") : past;
}

/** Whether a run ends here because its request did not fit the context. */
export function isOverflow(message: OmniMessage): boolean {
  return isType(message, "abort") && message.payload.code === "context-overflow";
}

const REASON = "with it the request did not fit";

function ends(text: string): string {
  if (text.length <= MAX_CHARS) return text;
  // Without the half of a surrogate pair.
  const head = text.slice(0, MAX_CHARS / 2).replace(/[\ud800-\udbff]$/, "");
  const tail = text.slice(-MAX_CHARS / 2).replace(/^[\udc00-\udfff]/, "");
  const lost = text.length - head.length - tail.length;
  return `${head}\n[... ${lost} characters left out: ${REASON} ...]\n${tail}`;
}
