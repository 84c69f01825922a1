import type { AgentHarnessTool } from "../environment/agent-tool.ts";
import { Agent } from "./agent.ts";
import type { AgentOptions, InitialState } from "./agent-options.ts";

/** What an agent with an application's context is made of; the state stands beside the options. */
export interface AgentHarnessOptions<TContext>
  extends Omit<AgentOptions, "initialState" | "toolContext">,
    Omit<InitialState, "tools"> {
  // biome-ignore lint/suspicious/noExplicitAny: a list of tools whose parameter types differ has no narrower type.
  readonly tools: readonly AgentHarnessTool<TContext, any, any>[];
  /** Handed as it is to every call, as the tool's fifth argument. */
  readonly toolContext: NoInfer<TContext>;
}

/**
 * An agent whose tools are given the application's own context.
 *
 * @example
 * const harness = new AgentHarness({ tools: [deployTool], toolContext: { userId: "user123", permissions: ["deploy"] } });
 */
export class AgentHarness<TContext> extends Agent {
  constructor(options: AgentHarnessOptions<TContext>) {
    const { tools, model, systemPrompt, thinkingLevel, ...rest } = options;
    const initialState: InitialState = {
      tools,
      ...(model && { model }),
      ...(systemPrompt !== undefined && { systemPrompt }),
      ...(thinkingLevel && { thinkingLevel }),
    };
    super({ ...rest, initialState });
  }
}
