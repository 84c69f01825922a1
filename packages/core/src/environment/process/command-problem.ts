/** Why a shell command cannot be run; absent where it can. @param name - Of the argument that holds it. */
export function commandProblem(name: string, command: string): string | undefined {
  if (command.trim() === "") return `${name} is empty; give the shell command to run`;
  if (!command.includes("\0")) return undefined;
  return `${name} holds a NUL byte, which no command can; remove it or print it with printf '\\0'`;
}
