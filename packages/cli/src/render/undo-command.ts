import type { AgentFlags } from "../flags.ts";

/** The command that undoes a task, as it can be typed: with the flags by which the session was found. */
export function undoCommand(id: string, { root, project, agent }: AgentFlags, task: number | undefined): string {
  const flags = { "--root": root, "--project": project, "--agent": agent, "--task": task };
  const given = Object.entries(flags).flatMap(([name, value]) =>
    value === undefined ? [] : `${name} ${word(`${value}`)}`,
  );
  return ["rookery sessions undo", word(id), ...given].join(" ");
}

/** One word of a POSIX shell. */
function word(text: string): string {
  return /^[\w./:@+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
