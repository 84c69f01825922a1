import type { FieldsOf } from "../../omnimessage/shape.ts";

/** What the catalogue says of a provider and its models; also what a test checks the file against. */
export const catalogueProviderFields = {
  id: "string",
  name: "string",
  client_type: "string",
  base_url: "string",
  key_variable: "string",
  default_model_id: "string",
  aliases: { list: "string" },
  models: {
    list: {
      fields: {
        model_id: "string",
        context_window: "number",
        max_tokens: "number",
        vision: "boolean",
        thinking: "boolean",
        pricing: { fields: { input: "number", cache_read: "number", cache_write: "number", output: "number" } },
      },
    },
  },
} as const;

/** One provider: where it is reached, what holds its key, the model taken when none is chosen, other names for it. */
export type CatalogueProvider = FieldsOf<typeof catalogueProviderFields>;

/** One model: `context_window` and `max_tokens` in tokens, `pricing` in USD per million. */
export type CatalogueModel = CatalogueProvider["models"][number];

/** When the catalogue's data was published, and how many whole days ago. */
export interface CatalogueAge {
  /** `YYYY-MM-DD`. */
  readonly date: string;
  readonly days: number;
}

/**
 * What is known of a model. A dated or `-latest` name stands for the model it is a version of, where that is listed.
 *
 * @returns Absent when nothing is known for sure.
 */
export async function catalogueModel(provider: string, modelId: string): Promise<CatalogueModel | undefined> {
  const { models = [] } = (await catalogueProvider(provider)) ?? {};
  const known = (id: string): CatalogueModel | undefined => models.find(({ model_id }) => model_id === id);
  return known(modelId) ?? known(modelId.replace(VERSION, ""));
}

const VERSION = /(-latest|[-@]20\d{6}|-20\d\d-\d\d-\d\d)$/;

/** The provider of that id; other names for it do not count. */
export async function catalogueProvider(id: string): Promise<CatalogueProvider | undefined> {
  return (await catalogueProviders()).find((provider) => provider.id === id);
}

/** All providers by their ids, each with its models. */
export async function catalogueProviders(): Promise<readonly CatalogueProvider[]> {
  return (await load()).providers;
}

export async function catalogueAge(now: Date = new Date()): Promise<CatalogueAge> {
  const { date } = await load();
  return { date, days: Math.max(0, Math.floor((now.getTime() - Date.parse(date)) / MS_PER_DAY)) };
}

const MS_PER_DAY = 86_400_000;

/** The file as it is written: of each model one row of values, in the order of `columns`. */
interface CatalogueFile {
  readonly date: string;
  readonly columns: readonly string[];
  readonly providers: readonly (Omit<CatalogueProvider, "models"> & { readonly models: readonly unknown[][] })[];
}

interface Catalogue {
  readonly date: string;
  readonly providers: readonly CatalogueProvider[];
}

let catalogue: Promise<Catalogue> | undefined;

/** Read when it is first asked for, and once; most commands need none of it. */
function load(): Promise<Catalogue> {
  catalogue ??= import("./models.json", { with: { type: "json" } }).then((file) => {
    const { date, columns, providers } = file.default as unknown as CatalogueFile;
    const read = ({ models, ...provider }: CatalogueFile["providers"][number]): CatalogueProvider => ({
      ...provider,
      models: models.map((row) => modelOf(row, columns)),
    });
    return { date, providers: providers.map(read) };
  });
  return catalogue;
}

function modelOf(row: readonly unknown[], columns: readonly string[]): CatalogueModel {
  const { input, cache_read, cache_write, output, ...model } = Object.fromEntries(
    columns.map((column, i) => [column, row[i]]),
  );
  return { ...model, pricing: { input, cache_read, cache_write, output } } as CatalogueModel;
}
