import { isType } from "../../omnimessage/guards.ts";
import type { OmniMessage } from "../../omnimessage/message.ts";
import { anyPath, pathPattern } from "./path-pattern.ts";

/** Where a session was recorded, and where it is replayed. */
export interface Move {
  /** The same directory under each of its known names, absolute. */
  readonly from: readonly string[];
  /** Absolute and real. */
  readonly to: string;
}

/**
 * The records with the arguments of calls meant for another workspace: its path, wherever it stands by itself or begins a
 * longer one, is replaced. Left as they are: arguments that are not JSON, which are never run; in the texts of files a
 * path of one name, which may mean something else there; and commands, where the new path would have to be quoted.
 */
export function relocated(records: readonly OmniMessage[], { from, to }: Move): OmniMessage[] {
  const pattern = from.includes(to) ? undefined : anyPath(from.flatMap((path) => placePattern(path, to)));
  if (pattern === undefined) return [...records];
  const isKept = { text: from.some(isWord), command: !isShellSafe(to) };
  const names = new Map<string, string>();
  return records.map((message) => {
    if (isType(message, "tool_call")) names.set(message.payload.tool_call_id, message.payload.name);
    if (!isType(message, "tool_call") && !isType(message, "approval_decision")) return message;
    const { arguments: json, tool_call_id: id } = message.payload;
    const move = (key: string, text: string): string => {
      const kind = argumentKind(names.get(id), key);
      return kind && isKept[kind] ? text : text.replace(pattern, () => to);
    };
    const moved = json === undefined ? undefined : movedJson(json, move);
    return moved === undefined
      ? message
      : ({ ...message, payload: { ...message.payload, arguments: moved } } as OmniMessage);
  });
}

/** What an argument of a built-in tool holds beside paths: what stands in a file, or a shell command. */
export function argumentKind(tool: string | undefined, key: string): "text" | "command" | undefined {
  return ARGUMENT_KINDS.get(`${tool} ${key}`);
}

const ARGUMENT_KINDS: ReadonlyMap<string, "text" | "command"> = new Map([
  ["edit_file old_string", "text"],
  ["edit_file new_string", "text"],
  ["write_file content", "text"],
  ["exec_command cmd", "command"],
]);

/** True for a path of one name: `/app` is a route and an option as well. */
export function isWord(path: string): boolean {
  return /^\/+[^/]*\/*$/.test(path);
}

function isShellSafe(path: string): boolean {
  return /^[\p{L}\p{N}\p{M}_./@%+,:=-]*$/u.test(path);
}

/** One that a shell would take apart replaces whole paths only, never a part of a text that may be a command. */
function placePattern(from: string, to: string): RegExp[] {
  const pattern = pathPattern(from);
  if (pattern === undefined) return [];
  return [isShellSafe(to) ? pattern : new RegExp(`^${pattern.source}(?=$|/\\S*$)`, pattern.flags)];
}

/** @returns `undefined` where nothing changes. */
function movedJson(json: string, move: (key: string, text: string) => string): string | undefined {
  try {
    let changed = false;
    const value: unknown = JSON.parse(json, (key, part: unknown) => {
      if (typeof part !== "string") return part;
      const moved = move(key, part);
      changed ||= moved !== part;
      return moved;
    });
    return changed ? JSON.stringify(value) : undefined;
  } catch {
    return undefined;
  }
}
