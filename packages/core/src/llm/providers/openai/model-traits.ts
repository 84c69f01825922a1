import type { ThinkingLevelName } from "../../contract.ts";

/** What a request must know of its model. */
export interface ModelTraits {
  /** One of OpenAI's own models. */
  readonly openai: boolean;
  /** Whether reasoning of earlier replies may be in the input: OpenAI's models that do not reason refuse it. */
  readonly takesReasoning: boolean;
  /** One of those that reason: only these are asked for encrypted reasoning and summaries. */
  readonly reasoning: boolean;
  /** What efforts it may be told, from least to most. */
  readonly efforts: readonly Effort[];
}

type Effort = ThinkingLevelName | "minimal";

/**
 * Reads a model's name, without the vendor that gateways put before it; `gpt-oss` runs on other servers. A name that is not one of OpenAI's reasoning models
 * is asked for nothing that not every server takes.
 */
export function traitsOf(modelId: string): ModelTraits {
  const name = modelId.toLowerCase().replace(/^.*\//, "");
  const openai = /^(gpt-(?!oss)|o\d|codex|chatgpt)/.test(name);
  const efforts = effortsOf(name);
  return { openai, takesReasoning: efforts.length > 0 || !openai, reasoning: efforts.length > 0, efforts };
}

/** The least effort of the model that is no less than the level, else its most; none when it is told none. */
export function effortFor(level: ThinkingLevelName | undefined, { efforts }: ModelTraits): Effort | undefined {
  if (level === undefined) return undefined;
  return efforts.find((effort) => ORDER.indexOf(effort) >= ORDER.indexOf(level)) ?? efforts.at(-1);
}

const ORDER: readonly Effort[] = ["none", "minimal", "low", "medium", "high", "xhigh"];

function effortsOf(name: string): readonly Effort[] {
  if (/chat-latest|^o1-(mini|preview)/.test(name)) return [];
  if (name.includes("deep-research")) return ["medium"];
  if (/^(o\d|codex)/.test(name)) return ["low", "medium", "high"];
  const [, major, minor = "0"] = /^gpt-(\d+)(?:\.(\d+))?(?=-|$)/.exec(name) ?? [];
  if (major === undefined || Number(major) < 5) return [];
  const version = Number(major) * 1000 + Number(minor);
  const most: Effort = version > GPT_5_1 || name.includes("codex-max") ? "xhigh" : "high";
  if (/-pro\b/.test(name)) return version < GPT_5_1 ? ["high"] : between("medium", most);
  if (name.includes("codex") || Number(major) > 5) return between("low", most);
  if (version < GPT_5_1) return between("minimal", most);
  return ["none", ...between("low", most)];
}

const GPT_5_1 = 5001;

function between(least: Effort, most: Effort): readonly Effort[] {
  return ORDER.slice(ORDER.indexOf(least), ORDER.indexOf(most) + 1);
}
