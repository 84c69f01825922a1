import { createHash } from "node:crypto";

/** The longest name of a tool that any of the services takes. */
const MAX_NAME_CHARACTERS = 64;

/**
 * A tool name the protocol takes: letters, digits, `_` and `-`, at most 64. One that is changed is told from others that
 * would look like it by a digest at its end.
 *
 * @param first - What a name may begin with; default: any of these.
 */
export function legalName(name: string, first: RegExp = /^[\w-]/): string {
  if (/^[\w-]+$/.test(name) && first.test(name) && name.length <= MAX_NAME_CHARACTERS) return name;
  const mark = `_${digest(name).slice(0, 8)}`;
  const plain = name.replace(/[^\w-]/g, "_");
  return (plain === "" || first.test(plain) ? plain : `_${plain}`).slice(0, MAX_NAME_CHARACTERS - mark.length) + mark;
}

/** A call id the protocol takes; one that it does not is replaced by a digest. */
export function legalCallId(id: string, maxCharacters: number, characters: RegExp = /^/): string {
  return characters.test(id) && id.length <= maxCharacters ? id : `call_${digest(id)}`;
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 32);
}
