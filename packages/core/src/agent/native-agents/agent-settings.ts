import { isAbsolute } from "node:path";

/** How an agent is started: the executable, then these arguments, then the prompt as one more. */
export interface AgentSettings {
  /** A name that is looked for in `PATH`, or an absolute path. */
  readonly executable: string;
  readonly args?: readonly string[];
}

/** The agents of the toolset `strict`; those of the same name in the person's configuration go before (PE-042 to PE-044). */
export const SHIPPED_AGENTS: Readonly<Record<string, AgentSettings>> = {
  claude: { executable: "claude", args: ["-p"] },
  codex: { executable: "codex", args: ["exec"] },
  pi: { executable: "pi", args: ["-p"] },
};

/** What is wrong with an agent as it is configured, and at which keys below its name; absent where nothing is. */
export function agentProblem(
  name: string,
  { executable, args = [] }: AgentSettings,
): { readonly keys: readonly string[]; readonly what: string } | undefined {
  if (!/^[A-Za-z0-9_-]{1,58}$/.test(name)) {
    return { keys: [], what: "is no name for a tool; use up to 58 letters, digits, _ and -" };
  }
  if (executable === "" || (executable.includes("/") && !isAbsolute(executable))) {
    return { keys: ["executable"], what: "must be a name that is found in PATH, or an absolute path" };
  }
  if (executable.includes("\0")) return { keys: ["executable"], what: "holds a NUL character" };
  const broken = args.findIndex((arg) => arg.includes("\0"));
  return broken === -1 ? undefined : { keys: ["args", String(broken)], what: "holds a NUL character" };
}
