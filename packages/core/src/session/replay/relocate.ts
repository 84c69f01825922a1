import { isType } from "../../omnimessage/guards.ts";
import type { OmniMessage } from "../../omnimessage/message.ts";

/**
 * The records with the arguments of calls meant for another workspace: its path, wherever it stands by itself or begins a
 * longer one, is replaced. Arguments that are not JSON, which are never run, stay as they are.
 */
export function relocated(records: readonly OmniMessage[], from: string, to: string): OmniMessage[] {
  const pattern = pathPattern(from);
  if (pattern === undefined || from === to) return [...records];
  return records.map((message) => {
    const json = argumentsOf(message);
    const moved = json === undefined ? undefined : relocatedJson(json, pattern, to);
    return moved === undefined
      ? message
      : ({ ...message, payload: { ...message.payload, arguments: moved } } as OmniMessage);
  });
}

/** Matches a path where no other name begins or ends; `undefined` for one too short to be told from other text. */
export function pathPattern(path: string): RegExp | undefined {
  const trimmed = path.replace(/\/+$/, "");
  if (trimmed === "") return undefined;
  return new RegExp(`(?<![\\w.-])${trimmed.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")}(?![\\w-]|\\.\\w)`, "g");
}

function argumentsOf(message: OmniMessage): string | undefined {
  if (isType(message, "tool_call") || isType(message, "approval_decision")) return message.payload.arguments;
  return undefined;
}

/** @returns `undefined` where nothing changes. */
function relocatedJson(json: string, pattern: RegExp, to: string): string | undefined {
  try {
    let changed = false;
    const value: unknown = JSON.parse(json, (_key, part: unknown) => {
      if (typeof part !== "string") return part;
      const moved = part.replace(pattern, () => to);
      changed ||= moved !== part;
      return moved;
    });
    return changed ? JSON.stringify(value) : undefined;
  } catch {
    return undefined;
  }
}
