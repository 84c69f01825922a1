import { previewLines } from "../../environment/files/approval-preview.ts";
import type { AgentExecutable } from "./agent-executable.ts";
import { quotedWords, visibleLines } from "./visible-text.ts";

/** What a person needs to know to let another agent work: what is started how and where, its prompt, and a warning. */
export function delegationSummary(delegation: {
  readonly name: string;
  readonly executable: AgentExecutable;
  readonly args: readonly string[];
  readonly prompt: string;
  readonly workspaceDir: string;
}): string {
  const { executable, args, prompt, workspaceDir } = delegation;
  const { path, realPath } = executable;
  return [
    `start the agent ${delegation.name}: ${quotedWords([path, ...args])} PROMPT`,
    ...(realPath === path ? [] : [`which leads to ${quotedWords([realPath])}`]),
    `in ${quotedWords([workspaceDir])}`,
    `PROMPT, ${Buffer.byteLength(prompt)} bytes:`,
    previewLines(">", visibleLines(prompt)),
    ...(prompt.startsWith("-") ? ["it begins with a dash: the agent may take it for an option"] : []),
    "warning: the agent decides for itself what it does; it may read, write and run anything with your rights and credentials",
  ].join("\n");
}
