import { homedir } from "node:os";
import { relative } from "node:path";
import type { CallAssessment } from "../../approval/contract.ts";
import { resolvePath } from "../../environment/files/resolve-path.ts";
import type { ToolCallPayload } from "../../omnimessage/message.ts";
import { PATH_START, pathPattern } from "./path-pattern.ts";
import { argumentKind, type Move } from "./relocate.ts";

/**
 * Finds what would lead a relocated call into the workspace of the recording all the same: a path that its tool declares,
 * or one that its arguments name, through quotes, links, `..` and the home directory. What files hold is not looked at;
 * a glob and a variable are not seen through.
 *
 * @returns `undefined` for a call that keeps out, and where the session is replayed in its own place.
 */
export async function strayPath(
  { name, arguments: json }: Pick<ToolCallPayload, "name" | "arguments">,
  { read = [], write = [] }: NonNullable<CallAssessment["paths"]>,
  { from, to }: Move,
): Promise<string | undefined> {
  const places = from.filter((path) => pathPattern(path) !== undefined);
  if (places.includes(to)) return undefined;
  const texts = argumentTexts(name, json).map(unquoted);
  const named = await Promise.all([...new Set(texts.flatMap(pathsIn))].map((path) => realPathOf(to, path)));
  const stray = [...read, ...write, ...named].find(
    (path) => path !== undefined && places.some((place) => isInside(path, place)) && !isInside(path, to),
  );
  return stray ?? places.find((place) => texts.some((text) => isNamed(place, text, to)));
}

/** Every string of the arguments but those that are the text of a file; all in one where they are nested too deep. */
function argumentTexts(tool: string, json: string): string[] {
  const texts: string[] = [];
  try {
    JSON.parse(json, (key, part: unknown) => {
      texts.push(key);
      if (typeof part === "string" && argumentKind(tool, key) !== "text") texts.push(part);
      return part;
    });
    return texts;
  } catch {
    return [json];
  }
}

/** As a shell would read it, nearly. */
function unquoted(text: string): string {
  return text
    .replace(/["'`]|\\(?=[^\w/])/g, "")
    .replace(/(?<![\p{L}\p{N}_/.])(?:~|\$HOME|\$\{HOME\})(?=\/|\s|$)/gu, () => homedir());
}

const PATH = new RegExp(`${PATH_START}(?:(?<!/)\\.\\.)?/[^\\s;|&<>()=:,*?[\\]{}$]*`, "gu");

function pathsIn(text: string): string[] {
  return text.match(PATH) ?? [];
}

/** For a workspace with blanks or signs in its path, which end one in {@link pathsIn}. */
function isNamed(place: string, text: string, to: string): boolean {
  const own = pathPattern(unquoted(to));
  return pathPattern(unquoted(place))?.test(own ? text.replace(own, "") : text) === true;
}

function isInside(path: string, directory: string): boolean {
  const way = relative(directory, path);
  return way === "" || !/^\.\.(?:\/|$)/.test(way);
}

/** @returns `undefined` for what no tool could reach either. */
async function realPathOf(workspaceDir: string, path: string): Promise<string | undefined> {
  return await resolvePath(workspaceDir, path).catch(() => undefined);
}
