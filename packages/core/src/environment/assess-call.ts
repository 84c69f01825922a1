import type { CallAssessment } from "../approval/contract.ts";
import type { ToolCallPayload, ToolRisk } from "../omnimessage/message.ts";
import { readArguments } from "./arguments.ts";
import { problemText } from "./files/file-problem.ts";
import { resolvePath } from "./files/resolve-path.ts";
import { type OfferedTool, toToolDefinition } from "./offered-tool.ts";
import { nestingError } from "./parse-arguments.ts";
import { shorten } from "./shorten.ts";
import type { BuiltinTool } from "./tool.ts";
import { unknownTool } from "./unknown-tool.ts";

const MAX_SUMMARY_CHARS = 2_000;

const MAX_ERROR_CHARS = 2_000;

/**
 * Finds out what a call would do and changes nothing: the tool by name, its arguments, then what the tool declares of
 * them, its paths as absolute real ones. Never throws: a call that cannot run has an `error`, and so has one whose
 * tool throws here.
 */
export async function assessCall(
  call: ToolCallPayload,
  tools: ReadonlyMap<string, OfferedTool>,
  workspaceDir: string,
): Promise<CallAssessment> {
  const offered = tools.get(call.name);
  if (offered === undefined)
    return cannotRun(call, "process", unknownTool(call.name, [...tools.values()].map(toToolDefinition)));
  const { tool } = offered;
  const checked = await readArguments(offered, call.arguments);
  if ("error" in checked) return cannotRun(call, tool.risk ?? "process", checked.error);
  try {
    return await assess(tool, checked.args, workspaceDir);
  } catch (error) {
    const text =
      nestingError(tool.name, error) ?? `${tool.name} was not run: ${shorten(problemText(error), MAX_ERROR_CHARS)}`;
    return cannotRun(call, tool.risk ?? "process", text);
  }
}

function cannotRun(call: ToolCallPayload, risk: ToolRisk, error: string): CallAssessment {
  return { error, risk, summary: summaryOf(call.name, call.arguments), executionMode: "parallel" };
}

async function assess(tool: BuiltinTool, args: Record<string, unknown>, workspaceDir: string): Promise<CallAssessment> {
  const declared = tool.paths?.(args);
  const paths = declared && (await realPaths(declared, workspaceDir));
  const context = { workspaceDir, ...(paths && { paths }) };
  const risk = (await tool.assessRisk?.(args, context)) ?? tool.risk ?? "process";
  const summary = await tool.approvalSummary?.(args, context);
  const commandText = tool.commandText?.(args);
  const state = await tool.assessState?.(args, context);
  return {
    args,
    risk: risk === "read_only" && tool.definition.permission === "rw" ? "filesystem" : risk,
    summary: summary ?? summaryOf(tool.name, JSON.stringify(args)),
    executionMode: tool.executionMode ?? "parallel",
    ...(commandText !== undefined && { commandText }),
    ...(paths && { paths }),
    ...(state !== undefined && { state }),
  };
}

async function realPaths(
  { read, write }: NonNullable<CallAssessment["paths"]>,
  workspaceDir: string,
): Promise<NonNullable<CallAssessment["paths"]>> {
  const resolveAll = (paths: readonly string[]): Promise<string[]> =>
    Promise.all(paths.map((path) => resolvePath(workspaceDir, path)));
  return { ...(read && { read: await resolveAll(read) }), ...(write && { write: await resolveAll(write) }) };
}

function summaryOf(name: string, args: string): string {
  return shorten(`${name} ${args}`, MAX_SUMMARY_CHARS);
}
