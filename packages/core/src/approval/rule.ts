import picomatch from "picomatch";
import { errorText } from "../errors/error-text.ts";
import { readCommand } from "./command/read-command.ts";
import { shellWords } from "./command/shell-words.ts";

/** What a rule speaks of: exactly one of `command`, `tool` and `path`. */
export interface RuleTarget {
  /** The words that a command begins with. */
  readonly command?: string;
  /** The exact name of a tool. */
  readonly tool?: string;
  /** A glob, or `outside-workspace`. */
  readonly path?: string;
  /** With `path`; absent: both. */
  readonly access?: "read" | "write";
}

/** Allows or denies calls without anyone being asked: exactly one of `allow` and `deny`. */
export interface ApprovalRule {
  readonly allow?: RuleTarget;
  readonly deny?: RuleTarget;
  /** Absolute; the rule holds in sessions of this workspace only. Absent: in all. */
  readonly workspace?: string;
}

/** The path word for every place that is not in the workspace. */
export const OUTSIDE_WORKSPACE = "outside-workspace";

/** Why a rule would not do what it seems to say; absent for a good one. */
export function ruleProblem(rule: ApprovalRule): string | undefined {
  const { allow, deny, workspace } = rule;
  const target = allow ?? deny;
  if (target === undefined || (allow && deny)) return "needs exactly one of allow and deny";
  const { command, tool, path, access } = target;
  if ([command, tool, path].filter((value) => value !== undefined).length !== 1) {
    return "needs exactly one of command, tool and path";
  }
  if (access !== undefined && path === undefined) return "has an access, which goes with a path only";
  if (workspace !== undefined && !workspace.startsWith("/")) {
    return `needs an absolute workspace, got ${JSON.stringify(workspace)}`;
  }
  if (tool?.trim() === "") return "has an empty tool";
  return (command !== undefined && commandProblem(command)) || (path !== undefined && globProblem(path)) || undefined;
}

/** A rule as it is written behind `rookery config rules add`. */
export function ruleText({ allow, deny, workspace }: ApprovalRule): string {
  const { command, tool, path, access } = allow ?? deny ?? {};
  const [kind, value] =
    command !== undefined ? ["command", command] : tool !== undefined ? ["tool", tool] : ["path", path ?? ""];
  const words = [allow ? "allow" : "deny", kind, value, ...(access ? ["--access", access] : [])];
  return shellWords([...words, ...(workspace === undefined ? [] : ["--workspace", workspace])]);
}

function commandProblem(command: string): string | undefined {
  const { parts, unreadable } = readCommand(command);
  const why =
    unreadable ??
    (parts.length === 1 ? undefined : "it is not one command") ??
    (parts[0]?.assignments.length === 0 && parts[0].words.length > 0 ? undefined : "it does not begin with a program");
  return why && `needs plain words as its command, got ${JSON.stringify(command)}: ${why}; put signs into quotes`;
}

function globProblem(path: string): string | undefined {
  try {
    if (path.trim() === "") return "has an empty path";
    // picomatch 4.0.7 does not come back from some of these.
    if (path.includes("\\\\")) return "has a path with two backslashes in a row, which is no pattern";
    picomatch(path, { dot: true });
    return undefined;
  } catch (error) {
    return `has a path that is no pattern: ${errorText(error)}`;
  }
}
