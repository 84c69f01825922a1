import { type AgentTool, defineTool } from "../../src/environment/agent-tool.ts";

/** A parallel tool that answers with what it was given. */
export function echoTool(name = "echo"): AgentTool<Record<string, unknown>, unknown> {
  return defineTool({
    name,
    label: name,
    description: "Says the text back.",
    parameters: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
    execute: async (_id: string, params: Record<string, unknown>) => ({
      content: [{ type: "text", text: `echo: ${String(params.text)}` }],
      details: {},
    }),
  });
}

/** A point that code can wait for and a test can reach. */
export class Gate {
  #open: () => void = () => undefined;
  readonly opened: Promise<void> = new Promise((resolve) => {
    this.#open = resolve;
  });

  open(): void {
    this.#open();
  }
}

/** A tool whose calls are counted while they run, and end when their gate opens; without one, after what could start meanwhile. */
export function gatedTool(
  name: string,
  options: { executionMode?: "parallel" | "sequential"; gates?: Readonly<Record<string, Gate>> } = {},
): {
  tool: AgentTool<Record<string, unknown>, unknown>;
  started: string[];
  ended: string[];
  mostAtOnce: () => number;
  onStart: (key: string) => Promise<void>;
} {
  const started: string[] = [];
  const ended: string[] = [];
  const startedGates = new Map<string, Gate>();
  const startGate = (key: string): Gate => {
    const gate = startedGates.get(key) ?? new Gate();
    startedGates.set(key, gate);
    return gate;
  };
  let running = 0;
  let most = 0;
  const tool = defineTool({
    name,
    label: name,
    description: "Waits.",
    parameters: { type: "object", properties: { key: { type: "string" } }, required: ["key"] },
    ...(options.executionMode && { executionMode: options.executionMode }),
    execute: async (_id: string, params: Record<string, unknown>, signal?: AbortSignal) => {
      const key = String(params.key);
      started.push(key);
      running++;
      most = Math.max(most, running);
      startGate(key).open();
      await Promise.race([options.gates?.[key]?.opened ?? whileOthersStart(), abortOf(signal)]);
      running--;
      ended.push(key);
      return { content: [{ type: "text", text: `done ${key}` }], details: {} };
    },
  });
  return { tool, started, ended, mostAtOnce: () => most, onStart: (key) => startGate(key).opened };
}

/** A hundred rounds of the event loop: a call that does not wait for this one has begun by then. */
async function whileOthersStart(): Promise<void> {
  for (let round = 0; round < 100; round++) await new Promise((resolve) => setImmediate(resolve));
}

function abortOf(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    signal?.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}
