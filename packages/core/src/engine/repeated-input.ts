import { isType } from "../omnimessage/guards.ts";
import type { OmniMessage } from "../omnimessage/message.ts";
import { asPast } from "./goal/past-goal.ts";

/** Characters that stay of a text, half of them of its beginning: some thousand tokens, little of any context. */
const MAX_CHARS = 16_000;

/**
 * The input of a run that is over, as the next one says it again: that of a goal as something past; of a text that is long, in
 * a run that did not fit the context, its beginning and its end, since all that comes after would not fit either.
 *
 * @param didNotFit - Whether the run ended as `context-overflow`.
 */
export function repeatedInput(message: OmniMessage, didNotFit: boolean): OmniMessage {
  const past = asPast(message);
  if (!didNotFit || !isType(past, "text")) return past;
  const characters = [...past.payload.text];
  if (characters.length <= MAX_CHARS) return past;
  const marker = `[... ${characters.length - MAX_CHARS} characters left out: with them the request did not fit ...]`;
  const ends = [characters.slice(0, MAX_CHARS / 2), characters.slice(-MAX_CHARS / 2)].map((part) => part.join(""));
  return { ...past, payload: { ...past.payload, text: ends.join(`\n${marker}\n`) } };
}
