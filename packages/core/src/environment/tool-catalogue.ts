import { errorText } from "../errors/error-text.ts";
import { RookeryError } from "../errors/rookery-error.ts";
import type { OnWarning, SourceReport, ToolSource } from "./contract.ts";
import { type OfferedTool, offerTool } from "./offered-tool.ts";
import type { BuiltinTool } from "./tool.ts";

/** Tools and where they come from, as an error names it. */
export interface ToolGroup {
  readonly origin: string;
  readonly tools: readonly BuiltinTool[];
}

type Tools = ReadonlyMap<string, OfferedTool>;

/**
 * The tools of one environment by name: the fixed groups in their order, then each source's.
 *
 * @throws {RookeryError} `tool-duplicate` when two tools of the fixed groups have one name; `current` rejects so when a
 *   source's tool has a name that is there already (PE-053).
 */
export class ToolCatalogue {
  readonly #fixed: readonly ToolGroup[];
  readonly #sources: readonly ToolSource[];
  readonly #onWarning: OnWarning;
  readonly #unconnected: Set<ToolSource>;
  readonly #connecting = new Map<ToolSource, Promise<SourceReport>>();
  readonly #warnedAbout = new Set<string>();
  #known: Tools;
  #loading: Promise<Tools> | undefined;

  constructor(fixed: readonly ToolGroup[], sources: readonly ToolSource[], onWarning: OnWarning) {
    this.#fixed = fixed;
    this.#sources = sources;
    this.#onWarning = onWarning;
    this.#unconnected = new Set(sources.filter((source) => source.connect !== undefined));
    this.#known = this.#merge(fixed);
    for (const source of sources) source.onChange?.(() => this.#reload());
  }

  /** The tools as they were found last; those of sources only after `current`. */
  get known(): Tools {
    return this.#known;
  }

  /** The tools as they are now. Connects what is not connected; a source that fails has none, which is a warning. */
  current(): Promise<Tools> {
    if (this.#loading) return this.#loading;
    const loading = this.#load().then((tools) => {
      // What changed meanwhile is known from a load of its own.
      if (this.#loading === loading) this.#known = tools;
      return tools;
    });
    this.#loading = loading;
    return loading;
  }

  get unconnected(): string[] {
    return [...this.#unconnected].map((source) => source.id);
  }

  /** Connects the unconnected sources side by side. Never rejects; a source that was aborted stays unconnected. */
  async connect(signal: AbortSignal): Promise<SourceReport[]> {
    const reports = await Promise.all([...this.#unconnected].map((source) => this.#connect(source, signal)));
    this.#reload();
    return reports;
  }

  #reload(): void {
    this.#loading = undefined;
  }

  async #load(): Promise<Tools> {
    for (const source of this.#unconnected) {
      const { status, error } = await this.#connect(source, new AbortController().signal);
      if (status !== "completed") this.#warnOfSource(source, error ?? status);
    }
    const groups = await Promise.all(
      this.#sources.map(async (source) => ({ origin: source.id, tools: await this.#toolsOf(source) })),
    );
    return this.#merge([...this.#fixed, ...groups]);
  }

  async #connect(source: ToolSource, signal: AbortSignal): Promise<SourceReport> {
    const underWay = this.#connecting.get(source);
    if (underWay) {
      const report = await underWay;
      // An attempt that somebody else gave up is made again.
      return report.status === "aborted" ? this.#connect(source, signal) : report;
    }
    const connection = connectSource(source, signal).then((report) => {
      this.#connecting.delete(source);
      if (report.status !== "aborted") this.#unconnected.delete(source);
      return report;
    });
    this.#connecting.set(source, connection);
    return connection;
  }

  async #toolsOf(source: ToolSource): Promise<readonly BuiltinTool[]> {
    try {
      return await source.tools();
    } catch (error) {
      this.#warnOfSource(source, errorText(error));
      return [];
    }
  }

  #warnOfSource(source: ToolSource, reason: string): void {
    this.#onWarning({ code: "tool-source-failed", message: `the tool source ${source.id} gives no tools: ${reason}` });
  }

  #merge(groups: readonly ToolGroup[]): Tools {
    const origins = new Map<string, string>();
    const tools = new Map<string, OfferedTool>();
    for (const { origin, tools: group } of groups) {
      for (const tool of group) {
        const first = origins.get(tool.name);
        if (first !== undefined) throw duplicate(tool.name, first, origin);
        origins.set(tool.name, origin);
        tools.set(tool.name, this.#offer(tool));
      }
    }
    return tools;
  }

  #offer(tool: BuiltinTool): OfferedTool {
    const offered = offerTool(tool);
    const { name } = tool;
    if (tool.definition.permission === "r" && offered.permission === "rw" && !this.#warnedAbout.has(name)) {
      this.#warnedAbout.add(name);
      const message = `permission r of the tool ${name} has no effect: its risk is ${tool.risk ?? "process"}`;
      this.#onWarning({ code: "permission-ignored", message });
    }
    return offered;
  }
}

async function connectSource(source: ToolSource, signal: AbortSignal): Promise<SourceReport> {
  const startMs = performance.now();
  try {
    const report = await source.connect?.(signal);
    if (report !== undefined) return report;
    throw new TypeError("its connect gave no report");
  } catch (error) {
    const status = signal.aborted ? "aborted" : "failed";
    const duration_ms = Math.round(performance.now() - startMs);
    return { server: source.id, transport: "unknown", status, duration_ms, error: errorText(error) };
  }
}

function duplicate(name: string, first: string, second: string): RookeryError {
  const where = first === second ? `in ${first}` : `in ${first} and in ${second}`;
  return new RookeryError("tool-duplicate", `two tools are named ${JSON.stringify(name)}, ${where}`, {
    hint: "rename or remove one of them",
  });
}
