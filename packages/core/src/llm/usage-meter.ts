import type { LanguageModelV3Usage } from "@ai-sdk/provider";
import { eventMessage } from "../omnimessage/build.ts";
import { estimateMessageTokens } from "../omnimessage/estimate-tokens.ts";
import type { OmniMessage, TokenCounts } from "../omnimessage/message.ts";
import { addTokens, NO_TOKENS } from "../omnimessage/token-counts.ts";
import { costOf, type ModelPricing } from "./cost.ts";
import { countsOf, soundUsage } from "./token-counts.ts";

/** What the requests of one model took. */
export class UsageMeter {
  readonly #pricing: ModelPricing | undefined;
  readonly #estimateStart: () => number;
  #contextTokens: number | undefined;
  #spent: TokenCounts;

  /**
   * @param estimateStart - What the history takes before the first request, in tokens.
   * @param before - What the session took before this model.
   */
  constructor(pricing: ModelPricing | undefined, estimateStart: () => number, before: TokenCounts = NO_TOKENS) {
    this.#pricing = pricing;
    this.#estimateStart = estimateStart;
    this.#spent = before;
  }

  /** What the history takes of the context window: as the provider counted it last, or an estimate. */
  get contextTokens(): number {
    this.#contextTokens ??= this.#estimateStart();
    return this.#contextTokens;
  }

  /** The `token_usage` of a request that completed; the cost is absent where it is not known. */
  report(given: LanguageModelV3Usage, input: readonly OmniMessage[], reply: readonly OmniMessage[]): OmniMessage {
    const usage = soundUsage(given);
    const request = countsOf(usage);
    this.#spent = addTokens(this.#spent, request);
    if (request.total > 0) this.#contextTokens = request.total;
    else if (this.#contextTokens !== undefined) this.#contextTokens += estimateMessageTokens([...input, ...reply]);
    const cost = this.#pricing && costOf(usage, this.#pricing);
    const costUsd = cost !== undefined && { cost_usd: cost };
    return eventMessage({ type: "token_usage", request, session: this.#spent, ...costUsd });
  }
}
