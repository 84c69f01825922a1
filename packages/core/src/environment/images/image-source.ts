import { redactSecrets } from "../../llm/redact-secrets.ts";
import { FileProblem } from "../files/file-problem.ts";
import { modelVisiblePath } from "../model-visible-path.ts";
import { shorten } from "../shorten.ts";

/** True for the source of an image that is an http(s) address, good or bad, and not the path of a file. */
export function isAddress(source: string): boolean {
  return /^https?:/i.test(source);
}

/** A source that is no path. @throws {FileProblem} It is no address that images are fetched from. */
export function readAddress(source: string): URL {
  const url = parseAddress(source);
  assertUsable(url, "the address");
  return url;
}

/** @throws {FileProblem} `source` has the form of an address that is not http(s). */
export function assertPath(source: string): void {
  const [, scheme] = /^(?:([a-z][a-z\d+.-]+):\/\/|(data):)/i.exec(source) ?? [];
  if (scheme === undefined && !/^data:/i.test(source)) return;
  const name = (scheme ?? "data").toLowerCase();
  throw new FileProblem(`${name}: addresses are not read; give an http(s) address, or the path of a file`);
}

/** @param base - What a relative address starts from. @throws {FileProblem} It cannot be read as an address. */
export function parseAddress(text: string, base?: URL): URL {
  if (URL.canParse(text, base?.href)) return new URL(text, base);
  throw new FileProblem(`${base ? "it was redirected to what" : "this"} is no valid address; correct it`);
}

/**
 * @param what - How the message begins.
 * @throws {FileProblem} The address is not http(s), or holds a user name or password: those would be seen and sent.
 */
export function assertUsable({ protocol, username, password }: URL, what: string): void {
  if (!/^https?:$/.test(protocol)) throw new FileProblem(`${what} begins with ${protocol}, not http: or https:`);
  if (username === "" && password === "") return;
  throw new FileProblem(`${what} holds a user name or a password; give one without`);
}

/** A source for people and models: without credentials, and no longer than they can read. */
export function spellSource(source: string): string {
  if (!/^[a-z][a-z\d+.-]+:/i.test(source)) return modelVisiblePath(source).replaceAll("\0", "␀");
  if (!URL.canParse(source)) return shorten(source.replace(/^([a-z\d+.-]+:).*/is, "$1…"), MAX_SHOWN_CHARS);
  const url = new URL(source);
  if (url.username !== "" || url.password !== "") {
    url.username = "redacted";
    url.password = "";
  }
  return shorten(redactSecrets(url.host === "" ? source : url.href, []), MAX_SHOWN_CHARS);
}

const MAX_SHOWN_CHARS = 500;
