/** The shortest ways to a task with a model of one's own: with a key, and with a server on this machine. */
export const MODEL_STEPS: readonly string[] = [
  'ANTHROPIC_API_KEY=… rookery run "What is in this directory?"   # or OPENAI_API_KEY=…, GEMINI_API_KEY=…',
  'rookery run --model local/qwen3 --base-url http://127.0.0.1:11434/v1 "What is in this directory?"',
];

/** What a first call without arguments shows. */
export const FIRST_STEPS: string = `Rookery runs a language model as an agent on this machine. To see that without a key:

  rookery demo

Start a first task in one of three ways:

  ${MODEL_STEPS.join("\n  ")}
  rookery config model add PROVIDER/MODEL_ID --set-default   # stores a model and asks for its key

Which providers and models are known by name: rookery config model list --available

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
