import type { EnvironmentInterface, SourceReport } from "./contract.ts";

/** An environment with tool sources that must be connected before their tools exist. */
export interface ConnectableEnvironment extends EnvironmentInterface {
  /** Ids of sources that wait to be connected; empty once they are. */
  readonly unconnected: readonly string[];
  /** Connects them side by side; a source that fails is reported and left out. */
  connect(signal: AbortSignal): Promise<SourceReport[]>;
}

export function isConnectable(environment: EnvironmentInterface): environment is ConnectableEnvironment {
  const { connect, unconnected } = environment as Partial<ConnectableEnvironment>;
  return typeof connect === "function" && Array.isArray(unconnected);
}
