import { RookeryError } from "../errors/rookery-error.ts";
import type { ModelName } from "./project-config.ts";

/** What a caller asks for; `provider` and `modelId` come as a pair. */
export interface ModelWish {
  readonly provider?: string;
  readonly modelId?: string;
  readonly clientType?: string;
  readonly baseUrl?: string;
}

/**
 * Splits `PROVIDER/MODEL_ID` at its first slash; a model id may hold more of them.
 *
 * @param source - Where the text came from, for the error.
 * @throws {RookeryError} `usage` without both parts, and as {@link assertModelName}.
 */
export function parseModelName(text: string, source: string): ModelName {
  const slash = text.indexOf("/");
  if (slash > 0 && slash < text.length - 1) {
    const name = { provider: text.slice(0, slash), model_id: text.slice(slash + 1) };
    assertModelName(name);
    return name;
  }
  throw new RookeryError("usage", `${source} must be PROVIDER/MODEL_ID, got ${JSON.stringify(text)}`, {
    hint: "write it like openai/gpt-5 or local/qwen3",
  });
}

/**
 * Both halves of a wish for a model, or neither.
 *
 * @throws {RookeryError} `usage` for one half, and as {@link assertModelName}.
 */
export function modelPair({ provider, modelId }: ModelWish): { provider: string; modelId: string } | undefined {
  if (provider !== undefined && modelId !== undefined) {
    assertModelName({ provider, model_id: modelId });
    return { provider, modelId };
  }
  if (provider === undefined && modelId === undefined) return undefined;
  const [given, lacking] = provider === undefined ? ["model id", "provider"] : ["provider", "model id"];
  throw new RookeryError("usage", `the ${given} ${JSON.stringify(provider ?? modelId)} came without a ${lacking}`, {
    hint: "give both, as --model PROVIDER/MODEL_ID",
  });
}

/** Nobody sees these in a name, and a terminal may obey them. @throws {RookeryError} `usage` for blanks and control characters. */
export function assertModelName({ provider, model_id }: ModelName): void {
  const name = `${provider}/${model_id}`;
  if (!/[\s\p{Cc}\p{Cf}]/u.test(name)) return;
  throw new RookeryError("usage", `the model's name ${JSON.stringify(name)} has blanks or control characters`, {
    hint: "write it as the provider does, without them",
  });
}

/** The variable that says something of a provider: its name in capitals, other signs as `_`, and what it says. */
export function providerVariable(provider: string, suffix: "API_KEY" | "BASE_URL"): string {
  return `${provider.toUpperCase().replace(/[^A-Z0-9]/g, "_")}_${suffix}`;
}
