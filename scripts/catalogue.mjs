// Writes packages/core/src/llm/catalogue/models.json from the package llm-zoo and catalogue-overrides.json.
//
//   node scripts/catalogue.mjs            writes the file
//   node scripts/catalogue.mjs --check    writes nothing, and fails if the file is not current
//
// The overrides say which providers there are and what of the data is known to be wrong or missing, each with its reason.
// They are for one version of the data: with another one they are to be reviewed, and their date set to its release.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { MODEL_CONFIGS } from "llm-zoo";

const FILE = join(import.meta.dirname, "../packages/core/src/llm/catalogue/models.json");
const COLUMNS = [
  "model_id",
  "context_window",
  "max_tokens",
  "vision",
  "thinking",
  "input",
  "cache_read",
  "cache_write",
  "output",
];
/** Those whose writes to the prompt cache cost more than other input, where a model is cached on request. */
const CACHE_WRITE_FACTOR = { anthropic: 1.25, openai: 1.25 };
/** Whose prices OpenRouter passes on; models with open weights have other prices with each of their hosts. */
const PASSED_ON = ["anthropic", "openai", "google", "xai"];

process.exitCode = main(process.argv.slice(2));

function main(args) {
  const overrides = JSON.parse(readFileSync(join(import.meta.dirname, "catalogue-overrides.json"), "utf8"));
  const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.resolve("llm-zoo")), "utf8"));
  const installed = `llm-zoo ${version}`;
  if (installed !== overrides.source) {
    console.error(`catalogue-overrides.json is for ${overrides.source}, installed is ${installed}; review it`);
    return 1;
  }
  const text = render(overrides, modelsOf(overrides));
  if (existsSync(FILE) && readFileSync(FILE, "utf8") === text) return 0;
  if (!args.includes("--check")) {
    writeFileSync(FILE, text);
    return 0;
  }
  console.error("models.json is not current; run: node scripts/catalogue.mjs");
  return 1;
}

/** By `provider/model_id`. */
function modelsOf({ providers, leave_out, corrections }) {
  const models = new Map();
  const passedOn = new Map();
  const add = (provider, id, model) => {
    const name = `${provider}/${id}`;
    models.set(name, merged(models.get(name), { ...model, model_id: id }));
  };
  for (const entry of Object.values(MODEL_CONFIGS).filter(isServed)) {
    const { id: provider } = providers.find(({ zoo }) => zoo === entry.provider) ?? {};
    const model = read(entry);
    if (provider) for (const id of idsOf(entry)) add(provider, id, model);
    const isPassedOn = PASSED_ON.includes(entry.provider) && entry.openrouterFullName && !entry.deprecated;
    if (isPassedOn) passedOn.set(entry.openrouterFullName, `${provider}/${[...idsOf(entry)][0]}`);
  }
  for (const name of leave_out.flatMap(({ models }) => models)) models.delete(name);
  for (const { models: names, set } of corrections) {
    for (const name of names) models.set(name, corrected(models.get(name), name, set));
  }
  for (const [id, name] of passedOn) add("openrouter", id, models.get(name));
  return models;
}

/** Not withdrawn, at the provider's own address, at the standard tier, and able to call tools. */
function isServed(entry) {
  const isOrdinary = !entry.serviceTier && !entry.capabilities.reasoningMode && !entry.baseUrl;
  return isOrdinary && !entry.retired && !entry.openRouterOnly && entry.capabilities.supportsFunctionCalling;
}

/** The name without a date; also the full one where it differs by more than that. */
function idsOf({ fullName, shortName }) {
  const undated = fullName.replace(/-(\d{8}|\d{4}-\d{2}-\d{2})$/, "");
  return new Set([undated, shortName]);
}

function read({ contextWindow, maxOutputTokens, inputPrice, outputPrice, provider, capabilities }) {
  const isCached = capabilities.supportsPromptCaching || capabilities.supportsAutoPromptCaching;
  const writeFactor = (capabilities.supportsPromptCaching && CACHE_WRITE_FACTOR[provider]) || 1;
  return {
    context_window: contextWindow,
    max_tokens: maxOutputTokens,
    vision: capabilities.supportsVision,
    thinking: capabilities.supportsReasoning,
    input: inputPrice,
    cache_read: price(inputPrice * (isCached ? capabilities.cacheDiscountFactor : 1)),
    cache_write: price(inputPrice * writeFactor),
    output: outputPrice,
  };
}

/** The data lists a model that can think twice, with and without; what it can do is what either can. */
function merged(before, model) {
  if (!before) return model;
  return { ...model, vision: before.vision || model.vision, thinking: before.thinking || model.thinking };
}

function corrected(model, name, { cache_read_factor, ...set }) {
  const id = name.slice(name.indexOf("/") + 1);
  const cached = cache_read_factor && { cache_read: price(model.input * cache_read_factor) };
  return { ...model, model_id: id, ...cached, ...set };
}

/** Without the dust of binary fractions. */
function price(usd) {
  return Number(usd.toFixed(6));
}

function render({ source, date, providers }, models) {
  const groups = providers.map(({ zoo: _, ...provider }) => {
    const rows = [...models]
      .filter(([name]) => name.startsWith(`${provider.id}/`))
      .map(([, model]) => model)
      .sort((a, b) => (a.model_id < b.model_id ? -1 : 1))
      .map((model) => COLUMNS.map((column) => model[column]));
    return { ...provider, models: rows };
  });
  const text = JSON.stringify({ date, source, columns: COLUMNS, providers: groups }, undefined, 2);
  const formatter = join(import.meta.dirname, "../node_modules/.bin/biome");
  return execFileSync(formatter, ["format", `--stdin-file-path=${FILE}`], { input: text, encoding: "utf8" });
}
