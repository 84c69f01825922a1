import { type ModelPricing, RookeryError } from "@rookery/core";
import { readDecimal } from "./flags.ts";

/** Reads `--price`: INPUT,OUTPUT, or INPUT,CACHE_READ,CACHE_WRITE,OUTPUT where cached input has prices of its own. */
export function readPrice(text: string): ModelPricing {
  const prices = text.split(",").map((part) => readDecimal(part.trim()));
  const [input = 0, second = 0, third = 0, fourth = 0] = prices;
  const isUsable = prices.every((price) => price <= MAX_USD_PER_MILLION);
  if (isUsable && prices.length === 2) return { input, cache_read: input, cache_write: input, output: second };
  if (isUsable && prices.length === 4) return { input, cache_read: second, cache_write: third, output: fourth };
  throw new RookeryError("usage", `--price must be two or four amounts in USD, got ${JSON.stringify(text)}`, {
    hint: "write INPUT,OUTPUT or INPUT,CACHE_READ,CACHE_WRITE,OUTPUT per million tokens, like 3,0.3,3.75,15",
  });
}

const MAX_USD_PER_MILLION = 1_000_000;
