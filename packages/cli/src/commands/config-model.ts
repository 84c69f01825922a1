import {
  addModel,
  keySource,
  type ModelEntry,
  type ModelPricing,
  modelSettings,
  parseModelName,
  providerMeant,
  RookeryError,
  readProjectConfig,
  removeModel,
  setDefaultModel,
  setVisionModel,
  storedModel,
  vendorKeyVariable,
} from "@rookery/core";
import type { Command } from "commander";
import type { CommandContext } from "../command-line.ts";
import { addOutputFlag, addRootFlags, numberIn } from "../flags.ts";
import { readPrice } from "../read-price.ts";
import { readSecret } from "../read-secret.ts";
import { jsonLine } from "../render/json-line.ts";
import { oneLine } from "../render/neutralise.ts";
import { type ConfigFlags, configFile } from "./config-file.ts";
import { defineModelList } from "./config-model-list.ts";
import { defineModelTest } from "./config-model-test.ts";

interface AddFlags extends ConfigFlags {
  readonly clientType?: string;
  readonly baseUrl?: string;
  readonly contextWindow?: number;
  readonly maxTokens?: number;
  readonly vision?: boolean;
  readonly price?: ModelPricing;
  readonly header?: Record<string, string>;
  readonly setDefault?: boolean;
  readonly keyStdin?: boolean;
}

/** `rookery config model`: the models of a project. */
export function defineConfigModel(config: Command, context: CommandContext): void {
  const { stdout } = context;
  const model = config.command("model").description("The project's models: names, addresses, keys.");
  const add = (name: string, description: string): Command =>
    addOutputFlag(addRootFlags(model.command(name).description(description)), ["text", "json"]);
  const report = (flags: ConfigFlags, done: string, name: string, note = ""): void => {
    stdout.write(flags.output === "json" ? jsonLine({ [done]: name }) : `${done} ${oneLine(name)}${note}\n`);
  };

  const addModelCommand = add(
    "add",
    "Store a model, or change a stored one. Its key is asked for at a terminal; it is never a flag.",
  );
  refuseTogether(addModelCommand, ["vision", "no-vision"]);
  addModelCommand
    .argument("<PROVIDER/MODEL_ID>")
    .option("--client-type <TYPE>", "the protocol the server speaks")
    .option("--base-url <URL>", "the server's address")
    .option(
      "--context-window <N>",
      "in tokens",
      numberIn("--context-window", "a whole number of tokens above 0", TOKENS),
    )
    .option("--max-tokens <N>", "of one reply", numberIn("--max-tokens", "a whole number of tokens above 0", TOKENS))
    .option("--vision", "it sees images")
    .option("--no-vision", "it does not")
    .option(
      "--price <PRICES>",
      "INPUT,OUTPUT or INPUT,CACHE_READ,CACHE_WRITE,OUTPUT in USD per million tokens",
      readPrice,
    )
    .option("--header <'NAME: VALUE'>", "sent with every request; may be repeated", addHeader)
    .option("--set-default", "also make it the project's default")
    .option("--key-stdin", "read the key from standard input")
    .action(async (name: string, flags: AddFlags) => {
      const pair = parseModelName(name, "the model");
      const file = configFile(flags, context);
      const stored = storedModel(await readProjectConfig(file), pair);
      const enter = stored?.api_key ? "Enter keeps the stored one" : "Enter for none";
      const key = await readSecret(`Key for ${pair.provider} (${enter})`, flags.keyStdin === true, context.io);
      const entry = { ...pair, ...entryOf(flags), ...(key && { api_key: key }) };
      await addModel(file, entry, { setDefault: flags.setDefault === true });
      report(flags, "stored", name, await notes({ ...stored, ...entry }, context.io.env));
    });
  defineModelList(model, context);
  defineModelTest(model, context);
  add("default", "Make a stored model the project's default.")
    .argument("<PROVIDER/MODEL_ID>")
    .action(async (name: string, flags: ConfigFlags) => {
      await setDefaultModel(configFile(flags, context), parseModelName(name, "the model"));
      report(flags, "default", name);
    });
  add("vision", "Make a stored model the one that looks at images for models that do not see.")
    .argument("<PROVIDER/MODEL_ID>")
    .action(async (name: string, flags: ConfigFlags) => {
      await setVisionModel(configFile(flags, context), parseModelName(name, "the model"));
      report(flags, "vision", name);
    });
  add("remove", "Take a model out, with its key.")
    .argument("<PROVIDER/MODEL_ID>")
    .action(async (name: string, flags: ConfigFlags) => {
      await removeModel(configFile(flags, context), parseModelName(name, "the model"));
      report(flags, "removed", name);
    });
}

const TOKENS = { integer: true, max: 1_000_000_000 };

/** Of two flags that set the same thing the second one would replace the first unseen. */
function refuseTogether(command: Command, flags: readonly string[]): void {
  const given = new Set<string>();
  for (const flag of flags) {
    command.on(`option:${flag}`, () => {
      if (given.add(flag).size === 1) return;
      throw new RookeryError("usage", flags.map((name) => `--${name}`).join(" came together with "), {
        hint: "use one",
      });
    });
  }
}

function entryOf({
  clientType,
  baseUrl,
  contextWindow,
  maxTokens,
  vision,
  price,
  header,
}: AddFlags): Partial<ModelEntry> {
  return {
    ...(clientType !== undefined && { client_type: clientType }),
    ...(baseUrl !== undefined && { base_url: baseUrl }),
    ...(contextWindow !== undefined && { context_window: contextWindow }),
    ...(maxTokens !== undefined && { max_tokens: maxTokens }),
    ...(vision !== undefined && { vision }),
    ...(price && { pricing: price }),
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

/** Says so where a model has no key yet, and where nobody knows how to reach it. */
async function notes(entry: ModelEntry, env: NodeJS.ProcessEnv): Promise<string> {
  const hasKey = (await keySource(entry, env)) !== undefined;
  const key = hasKey ? "" : ` (no key; set ${await vendorKeyVariable(entry.provider)} or use --key-stdin)`;
  const { base_url } = await modelSettings(entry, { models: [entry] }, env);
  return base_url ? key : `${key}; no address is known for it: ${await addressAdvice(entry.provider)}`;
}

async function addressAdvice(provider: string): Promise<string> {
  const meant = await providerMeant(provider);
  return meant === undefined ? "pass --base-url" : `did you mean ${meant}? otherwise pass --base-url`;
}
