import { nearestWord } from "../../errors/nearest-word.ts";
import { catalogueProviders } from "./catalogue.ts";

/** The provider of the catalogue that a name is another one for, or is likely a misspelling of. */
export async function providerMeant(name: string): Promise<string | undefined> {
  const providers = (await catalogueProviders()).map(({ id, aliases }) => ({ id, names: [id, ...aliases] }));
  const known = providers.flatMap(({ names }) => names);
  const nearest = nearestWord(name, known);
  return providers.find(({ names }) => nearest !== undefined && names.includes(nearest))?.id;
}
