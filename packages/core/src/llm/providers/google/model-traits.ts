/** Models for other media than text, most of which do not think. */
const SPECIAL = /image|banana|tts|audio|live/;

/** What a model takes, as its name tells. */
export interface Traits {
  /** Takes images inside function responses, as the package tells it. */
  readonly imagesInside: boolean;
  /** Refuses calls without a thought signature. */
  readonly insists: boolean;
  /** Answers with images. */
  readonly imageOut: boolean;
  /** How it is told to think: by a level, by a budget of tokens, or not at all. */
  readonly thinking: "level" | "budget" | "none";
  /** Thinks without being told to. */
  readonly thinksByDefault: boolean;
  /** What stands for `none`: not every model can do without, and some refuse the lowest level. */
  readonly least: "minimal" | "low" | number | undefined;
  /** Knows a level between low and high. */
  readonly medium: boolean;
  /** The largest budget, in tokens. */
  readonly maxBudget: number;
}

/**
 * Reads a model's name, without the vendor that gateways put before it. An alias without a version (`gemini-flash-latest`)
 * is told a budget, which every version takes. A name that says nothing is not told to think, and may insist on signatures.
 */
export function traitsOf(modelId: string): Traits {
  const name = modelId.toLowerCase().replace(/^.*\//, "");
  const number = /^gemini-(\d+(?:\.\d+)?)/.exec(name)?.[1];
  const version = number === undefined ? undefined : Number(number);
  const old = (version !== undefined && version < 3) || /^gemini-(pro(-vision)?$|robotics-er-1\.5)/.test(name);
  const gemini3 = name.startsWith("gemini-") && !old;
  const imageOut = /image|banana/.test(name);
  const thinks = (version === undefined ? /^gemini-.*-latest$/.test(name) : version >= 2.5) && !SPECIAL.test(name);
  const thinking = !thinks ? "none" : version !== undefined && version >= 3 ? "level" : "budget";
  return {
    imagesInside: gemini3,
    insists: gemini3 || !/^gem(ini|ma)-/.test(name),
    imageOut,
    thinking,
    thinksByDefault: thinks && !(thinking === "budget" && name.includes("lite")),
    least: thinking === "level" ? leastLevel(name) : leastBudget(name, version),
    medium: !/^gemini-3-pro/.test(name),
    maxBudget: version === 2.5 && name.includes("pro") ? 32_768 : 24_576,
  };
}

function leastLevel(name: string): "minimal" | "low" {
  return /^gemini-3(\.1)?-flash/.test(name) ? "minimal" : "low";
}

function leastBudget(name: string, version: number | undefined): number | undefined {
  if (version === undefined) return undefined;
  return name.includes("flash") ? 0 : 128;
}
