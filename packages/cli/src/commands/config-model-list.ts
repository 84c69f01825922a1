import {
  type CatalogueProvider,
  catalogueAge,
  catalogueProviders,
  keySource,
  type ModelName,
  type ModelPricing,
  type ModelSettings,
  modelSettings,
  providerMeant,
  RookeryError,
  readProjectConfig,
  redactSecrets,
} from "@rookery/core";
import type { Command } from "commander";
import type { CommandContext } from "../command-line.ts";
import { addOutputFlag, addRootFlags } from "../flags.ts";
import { priceList, shortTokens } from "../render/figures.ts";
import { jsonLine } from "../render/json-line.ts";
import { oneLine } from "../render/neutralise.ts";
import { notice } from "../report-error.ts";
import { type ConfigFlags, configFile } from "./config-file.ts";

interface ListFlags extends ConfigFlags {
  /** `true` without a provider. */
  readonly available?: true | string;
}

/** `rookery config model list`: what the project stores, or what the catalogue knows. */
export function defineModelList(model: Command, context: CommandContext): void {
  const command = model
    .command("list")
    .description("List the stored models, and where each value comes from. Keys are not shown.")
    .option("--available [PROVIDER]", "the models of the built-in catalogue instead");
  addOutputFlag(addRootFlags(command), ["text", "json"]).action((flags: ListFlags) =>
    flags.available === undefined ? listStored(flags, context) : listAvailable(flags.available, flags, context),
  );
}

async function listStored(flags: ConfigFlags, context: CommandContext): Promise<void> {
  const { io, stdout } = context;
  const config = await readProjectConfig(configFile(flags, context));
  const isChosen = (chosen: ModelName | undefined, { provider, model_id }: ModelName): boolean =>
    chosen?.provider === provider && chosen.model_id === model_id;
  const rows = await Promise.all(
    (config.models ?? []).map(async (entry) => ({
      provider: entry.provider,
      model_id: entry.model_id,
      is_default: isChosen(config.default_model, entry),
      ...(isChosen(config.vision_model, entry) && { is_vision: true }),
      key: (await keySource(entry, io.env)) ?? "none",
      settings: await modelSettings(entry, config, io.env),
    })),
  );
  if (flags.output === "json") {
    stdout.write(jsonLine(rows.map(({ settings, ...row }) => ({ ...row, ...unfolded(settings) }))));
    return;
  }
  if (rows.length === 0) notice(io, "no models are stored; those known by name: rookery config model list --available");
  for (const { provider, model_id, is_default, is_vision, key, settings } of rows) {
    const use = is_vision ? " (looks at images for others)" : "";
    stdout.write(`${is_default ? "*" : " "} ${oneLine(`${provider}/${model_id} key: ${key}`)}${use}\n`);
    for (const line of bySource(settings)) stdout.write(`    ${oneLine(line)}\n`);
  }
}

/** Values, and beside them where each comes from. */
function unfolded(settings: ModelSettings): object {
  const known = Object.entries(settings).filter(([, setting]) => setting !== undefined);
  return {
    ...Object.fromEntries(known.map(([key, { value }]) => [key, withoutSecrets(value)])),
    sources: Object.fromEntries(known.map(([key, { source }]) => [key, source])),
  };
}

/** A line for each place that values come from. */
function bySource(settings: ModelSettings): string[] {
  const lines = new Map<string, string[]>();
  for (const [key, setting] of Object.entries(settings)) {
    if (setting === undefined) continue;
    lines.set(setting.source, [...(lines.get(setting.source) ?? []), `${key} ${shown(setting.value)}`]);
  }
  return [...lines].map(([source, values]) => `${source}: ${values.join(", ")}`);
}

function shown(value: string | number | boolean | ModelPricing): string {
  if (typeof value === "boolean") return value ? "yes" : "no";
  return typeof value === "object" ? priceList(value) : String(withoutSecrets(value));
}

/** An address may hold a key in its query. */
function withoutSecrets(value: unknown): unknown {
  return typeof value === "string" ? redactSecrets(value, []) : value;
}

async function listAvailable(wanted: true | string, { output }: ConfigFlags, context: CommandContext): Promise<void> {
  const { stdout } = context;
  const all = await catalogueProviders();
  const providers = wanted === true ? all : all.filter(({ id }) => id === wanted);
  if (providers.length === 0) throw await unknownProvider(String(wanted), all);
  const { date, days } = await catalogueAge();
  if (output === "json") {
    stdout.write(jsonLine({ date, days, providers }));
    return;
  }
  stdout.write(`models as of ${date}, ${days} days ago; prices in USD per million tokens: ${PRICE_ORDER}\n`);
  for (const provider of providers) for (const line of providerLines(provider)) stdout.write(`${line}\n`);
}

const PRICE_ORDER = "input,cache_read,cache_write,output";

function providerLines({ id, name, base_url, key_variable, default_model_id, models }: CatalogueProvider): string[] {
  const width = Math.max(0, ...models.map(({ model_id }) => model_id.length)) + id.length + 1;
  const rows = models.map(({ model_id, context_window, max_tokens, vision, thinking, pricing }) => {
    const mark = model_id === default_model_id ? "*" : " ";
    const columns = [
      `${id}/${model_id}`.padEnd(width),
      `${shortTokens(context_window)} window`.padStart(12),
      `${shortTokens(max_tokens)} out`.padStart(9),
      (vision ? "vision" : "").padEnd(6),
      (thinking ? "thinking" : "").padEnd(8),
      priceList(pricing),
    ];
    return `${mark} ${columns.join("  ")}`;
  });
  const unlisted = models.length === 0 ? [`* ${id}/${default_model_id}  (no more is known of it)`] : [];
  return ["", `${name}: ${base_url}, ${key_variable}`, ...rows, ...unlisted];
}

async function unknownProvider(wanted: string, all: readonly CatalogueProvider[]): Promise<RookeryError> {
  const meant = await providerMeant(wanted);
  return new RookeryError("usage", `the catalogue has no provider ${JSON.stringify(wanted)}`, {
    hint: meant === undefined ? `use one of ${all.map(({ id }) => id).join(", ")}` : `did you mean ${meant}?`,
  });
}
