import {
  addModel,
  agentPaths,
  dataRoot,
  keyVariable,
  type ModelEntry,
  parseModelName,
  RookeryError,
  readProjectConfig,
  removeModel,
  setDefaultModel,
} from "@rookery/core";
import type { Command } from "commander";
import type { CommandContext } from "../command-line.ts";
import { addOutputFlag, addRootFlags, numberIn, type OutputMode } from "../flags.ts";
import { readSecret } from "../read-secret.ts";
import { oneLine } from "../render/neutralise.ts";

interface ConfigFlags {
  readonly root?: string;
  readonly project?: string;
  readonly output?: OutputMode;
}

interface AddFlags extends ConfigFlags {
  readonly clientType?: string;
  readonly baseUrl?: string;
  readonly contextWindow?: number;
  readonly maxTokens?: number;
  readonly vision?: boolean;
  readonly header?: Record<string, string>;
  readonly setDefault?: boolean;
  readonly keyStdin?: boolean;
}

/** `rookery config model`: the models of a project. */
export function defineConfig(program: Command, context: CommandContext): void {
  const { stdout } = context;
  const model = program
    .command("config")
    .description("Change the project's configuration.")
    .command("model")
    .description("The project's models: names, addresses, keys.");
  const add = (name: string, description: string): Command =>
    addOutputFlag(addRootFlags(model.command(name).description(description)), ["text", "json"]);
  const report = (flags: ConfigFlags, done: string, name: string): void => {
    const text = flags.output === "json" ? JSON.stringify({ [done]: name }) : `${done} ${oneLine(name)}`;
    stdout.write(`${text}\n`);
  };

  add("add", "Store a model, or change a stored one. Its key is asked for at a terminal; it is never a flag.")
    .argument("<PROVIDER/MODEL_ID>")
    .option("--client-type <TYPE>", "the protocol the server speaks")
    .option("--base-url <URL>", "the server's address")
    .option("--context-window <N>", "in tokens", numberIn("--context-window", "a whole number of tokens", TOKENS))
    .option("--max-tokens <N>", "of one reply", numberIn("--max-tokens", "a whole number of tokens", TOKENS))
    .option("--vision", "it sees images")
    .option("--no-vision", "it does not")
    .option("--header <'NAME: VALUE'>", "sent with every request; may be repeated", addHeader)
    .option("--set-default", "also make it the project's default")
    .option("--key-stdin", "read the key from standard input")
    .action(async (name: string, flags: AddFlags) => {
      const pair = parseModelName(name, "the model");
      const key = await readSecret(`Key for ${pair.provider} (Enter for none)`, flags.keyStdin === true, context.io);
      await addModel(
        configFile(flags, context),
        { ...pair, ...entryOf(flags), ...(key && { api_key: key }) },
        {
          setDefault: flags.setDefault === true,
        },
      );
      report(flags, "stored", name);
    });
  add("list", "List them. Keys are not shown, only where each one comes from.").action((flags: ConfigFlags) =>
    list(flags, context),
  );
  add("default", "Make a stored model the project's default.")
    .argument("<PROVIDER/MODEL_ID>")
    .action(async (name: string, flags: ConfigFlags) => {
      await setDefaultModel(configFile(flags, context), parseModelName(name, "the model"));
      report(flags, "default", name);
    });
  add("remove", "Take a model out, with its key.")
    .argument("<PROVIDER/MODEL_ID>")
    .action(async (name: string, flags: ConfigFlags) => {
      await removeModel(configFile(flags, context), parseModelName(name, "the model"));
      report(flags, "removed", name);
    });
}

const TOKENS = { integer: true, max: 1_000_000_000 };

function configFile({ root, project = "default_project" }: ConfigFlags, { io }: CommandContext): string {
  return agentPaths(dataRoot(root, io.env), project, "default_agent").projectConfigFile;
}

function entryOf({ clientType, baseUrl, contextWindow, maxTokens, vision, header }: AddFlags): Partial<ModelEntry> {
  return {
    ...(clientType !== undefined && { client_type: clientType }),
    ...(baseUrl !== undefined && { base_url: baseUrl }),
    ...(contextWindow !== undefined && { context_window: contextWindow }),
    ...(maxTokens !== undefined && { max_tokens: maxTokens }),
    ...(vision !== undefined && { vision }),
    ...(header && { headers: header }),
  };
}

/** The value may be a secret, so that an error repeats the name alone. */
function addHeader(text: string, previous: Record<string, string> = {}): Record<string, string> {
  const [, name, value] = /^([\w!#$%&'*+.^`|~-]+):\s*([\t -~]+)$/.exec(text) ?? [];
  if (name !== undefined && value !== undefined) return { ...previous, [name]: value.trim() };
  throw new RookeryError("usage", `--header ${JSON.stringify(text.split(":")[0])} is not a header`, {
    hint: "write it like --header 'X-Team: blue'",
  });
}

async function list(flags: ConfigFlags, context: CommandContext): Promise<void> {
  const { models = [], default_model } = await readProjectConfig(configFile(flags, context));
  const rows = models.map((model) => ({
    provider: model.provider,
    model_id: model.model_id,
    is_default: default_model?.provider === model.provider && default_model.model_id === model.model_id,
    base_url: model.base_url,
    client_type: model.client_type,
    key: keySource(model, context.io.env),
  }));
  if (flags.output === "json") {
    context.stdout.write(`${JSON.stringify(rows)}\n`);
    return;
  }
  for (const { provider, model_id, is_default, base_url = "", key } of rows) {
    const line = `${is_default ? "*" : " "} ${provider}/${model_id}  key: ${key}  ${base_url}`;
    context.stdout.write(`${line[0]} ${oneLine(line.slice(2))}\n`);
  }
}

function keySource({ provider, api_key, key_command }: ModelEntry, env: NodeJS.ProcessEnv): string {
  if (api_key) return "stored";
  if (key_command) return "key_command";
  return env[keyVariable(provider)] ? keyVariable(provider) : "none";
}
