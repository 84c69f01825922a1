/** What a model takes, read from its name. */
export interface ModelTraits {
  /** One of Anthropic's own. */
  readonly claude: boolean;
  /** How it is told to think: by a budget in tokens, by effort, or in no way. */
  readonly thinking: "budget" | "adaptive" | "none";
  /** It keeps the text of its thinking to itself unless asked for it. */
  readonly omitsThinking: boolean;
  /** Refuses thinking behind a prompt that changed, unless told to drop it. */
  readonly bindsThinking: boolean;
  /** Takes the effort `xhigh`. */
  readonly xhigh: boolean;
  /** What makes it think least. */
  readonly least: "disabled" | "between_tools" | "low";
  /** The limit of a reply where none is configured, in tokens: the service wants one. */
  readonly maxTokens: number;
}

/**
 * Reads a name with or without what vendors put around it: `claude-3-7-sonnet-20250219`, `anthropic/claude-sonnet-4.5`,
 * `us.anthropic.claude-opus-4-6-v1:0`. Models of others, on servers that are compatible, take budgets; a Claude whose
 * version cannot be read is told nothing, which all of them take.
 */
export function traitsOf(modelId: string): ModelTraits {
  const name = modelId.toLowerCase();
  const [, newFamily, major, minor = "0", oldFamily] = CLAUDE.exec(name) ?? [];
  const claude = name.includes("claude");
  const family = newFamily ?? oldFamily ?? "";
  const version = major === undefined ? 0 : Number(major) * 100 + Number(minor);
  return {
    claude,
    thinking: claude && version < 307 ? "none" : version >= 406 ? "adaptive" : "budget",
    omitsThinking: version >= 407,
    bindsThinking: ALWAYS_THINKING.has(family) && version > 500,
    xhigh: version >= 407,
    least: leastThinking(family, version),
    maxTokens: maxTokensOf(claude, version),
  };
}

/** The number behind a minor version is no part of it when it is a date. */
const CLAUDE = /claude-(?:([a-z]+)-)?(\d{1,2})(?!\d)(?:[-.](\d{1,2})(?!\d))?(?:-([a-z]+))?/;

const ALWAYS_THINKING: ReadonlySet<string> = new Set(["fable", "mythos"]);

/** From 5.5 on, and in two families before, thinking cannot be switched off unless it is known that it can. */
function leastThinking(family: string, version: number): ModelTraits["least"] {
  if (family === "sonnet" && version === 505) return "between_tools";
  if (family === "haiku" && version === 505) return "disabled";
  return version > 500 || ALWAYS_THINKING.has(family) ? "low" : "disabled";
}

function maxTokensOf(claude: boolean, version: number): number {
  if (version >= 406) return 64_000;
  if (version >= 307) return 32_000;
  return claude && version > 0 && version < 305 ? 4096 : 8192;
}
