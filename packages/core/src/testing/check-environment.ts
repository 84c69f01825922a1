import type { EnvironmentInterface } from "../environment/contract.ts";
import type { SampleCall } from "./environment/sample-calls.ts";
import { scenarios } from "./environment/scenarios.ts";
import { OutOfPatience, WatchedEnvironment } from "./environment/watched-environment.ts";

export interface EnvironmentCheckOptions {
  /** Calls that are made several times and at once; one for each tool is best. Default: only calls are made that cannot run. */
  readonly calls?: readonly SampleCall[];
  /** Calls that go on until they are stopped, to be aborted and disposed of meanwhile. Default: none. */
  readonly endlessCalls?: readonly SampleCall[];
  /** The longest wait for any one answer, in milliseconds; default 20000. */
  readonly timeoutMs?: number;
}

/**
 * Checks an environment against its contract: whatever is asked of it, nothing throws or rejects, and each call ends with
 * exactly one complete output in the form that the protocol demands (rules 1 to 3).
 *
 * It is asked for tools it does not have, with arguments that are no JSON, of the wrong kind or huge; its calls are made at
 * once, under one id, aborted before and meanwhile, left by their reader, and made once it is disposed of, twice. With
 * `calls` its tools really run; beside them only what no environment may run is sent: unknown names, and arguments that a
 * tool's schema forbids.
 *
 * @param makeEnvironment - Makes a fresh one for each thing that is tried, about a dozen times. All are disposed of.
 *   Where an answer does not come in time, the rest of what is tried there is left out.
 * @returns One string for each breach, with what was tried and asked; empty when the contract is kept. Messages are counted
 *   from 1 within a call, in rules of the protocol with the call and its approval before them.
 * @throws What `makeEnvironment` throws.
 *
 * @example
 * assert.deepEqual(await environmentViolations(() => new MyEnvironment(), { calls: [{ name: "echo", arguments: { text: "a" } }] }), []);
 */
export async function environmentViolations(
  makeEnvironment: () => EnvironmentInterface | Promise<EnvironmentInterface>,
  { calls = [], endlessCalls = [], timeoutMs = 20_000 }: EnvironmentCheckOptions = {},
): Promise<string[]> {
  const found = new Set<string>();
  for (const [title, scenario] of Object.entries(scenarios)) {
    const report = (breach: string): void => void found.add(`${title}: ${breach}`);
    const environment = new WatchedEnvironment(await makeEnvironment(), report, timeoutMs);
    try {
      await scenario({ environment, report, calls, endlessCalls });
    } catch (error) {
      if (!(error instanceof OutOfPatience)) throw error;
    } finally {
      await environment.dispose().catch(() => undefined);
    }
  }
  return [...found];
}
