/** What a first call without arguments shows. */
export const FIRST_STEPS = `Rookery runs a language model as an agent on this machine. Start a first task in one of three ways:

  rookery config model add openai/gpt-5 --set-default     stores a model and asks for its key; then: rookery run "PROMPT"
  OPENAI_API_KEY=… rookery run --model openai/gpt-5 "What is in this directory?"
  rookery run --model local/qwen3 --base-url http://127.0.0.1:11434/v1 "What is in this directory?"

All commands: rookery --help
`;

/** The answer to `--help` without a command. */
export function helpText(commands: readonly (readonly [name: string, summary: string])[]): string {
  const list = commands.map(([name, summary]) => `  ${name.padEnd(10)}${summary}`).join("\n");
  return `Usage: rookery COMMAND [FLAGS]

${list}

  --version  --help   also behind a command: rookery run --help

Environment: ROOKERY_HOME, ROOKERY_MODEL, <PROVIDER>_API_KEY, <PROVIDER>_BASE_URL, NO_COLOR
Exit codes: 0 done, 1 failed, 2 usage or configuration, 3 credentials, 124 time limit, 130 interrupted
`;
}
