import { words } from "./words.js";

/** A title as the last part of an address. */
export function slug(title) {
  return words(title).join("-");
}
