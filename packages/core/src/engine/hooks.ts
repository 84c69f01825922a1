import { jsonDetails } from "../environment/json-details.ts";
import type { OmniMessage, ToolCallOutputPayload, ToolCallPayload } from "../omnimessage/message.ts";
import { INTERRUPTED, unlessAborted } from "./interruption.ts";

/** What a hook is told of a call; `args` are the checked arguments, absent ones as `{}`. */
export interface HookedCall {
  readonly toolCall: ToolCallPayload;
  readonly args: Record<string, unknown>;
}

/**
 * Looks at a call before anyone is asked about it (PI-079 to PI-081). It can block the call or replace its arguments,
 * which are then assessed again; it cannot allow. A throw blocks.
 */
export type BeforeToolCall = (
  call: HookedCall,
  signal?: AbortSignal,
) => Promise<{ block: true; reason?: string } | { args: Record<string, unknown> } | undefined>;

/** The fields of an output that a hook can replace, each as a whole. */
export type OutputOverride = Partial<
  Pick<ToolCallOutputPayload, "output" | "images" | "details" | "stop_reason" | "terminate" | "usage">
>;

/**
 * Looks at an output before anyone sees it, after close-out: what it returns is not cut again (PI-020). A throw leaves
 * the output as it is.
 */
export type AfterToolCall = (
  call: HookedCall & { readonly result: ToolCallOutputPayload },
  signal?: AbortSignal,
) => Promise<OutputOverride | undefined>;

export interface Hooks {
  readonly beforeToolCall?: BeforeToolCall | readonly BeforeToolCall[];
  readonly afterToolCall?: AfterToolCall | readonly AfterToolCall[];
}

/** Several sets of hooks as one, in order. */
export function joinHooks(...sets: readonly (Hooks | undefined)[]): Hooks {
  return {
    beforeToolCall: sets.flatMap((hooks) => list(hooks?.beforeToolCall)),
    afterToolCall: sets.flatMap((hooks) => list(hooks?.afterToolCall)),
  };
}

export function beforeHooks(hooks: Hooks): readonly BeforeToolCall[] {
  return list(hooks.beforeToolCall);
}

/** True when outputs have to wait for a hook before anyone sees them. */
export function hasAfterHooks(hooks: Hooks): boolean {
  return list(hooks.afterToolCall).length > 0;
}

/**
 * Passes an output through every `afterToolCall` hook, each seeing what the one before it left. A hook that fails, or
 * that has not answered when the run is interrupted, leaves it as it was.
 */
export async function applyAfterHooks(
  hooks: Hooks,
  call: HookedCall,
  output: OmniMessage<ToolCallOutputPayload>,
  signal: AbortSignal,
  onFailure: (error: unknown) => void,
): Promise<OmniMessage<ToolCallOutputPayload>> {
  let result = output.payload;
  for (const hook of list(hooks.afterToolCall)) {
    try {
      const seen = result;
      const answer = Promise.resolve().then(() => hook({ ...call, result: seen }, signal));
      const override = await unlessAborted(answer, signal);
      if (override && override !== INTERRUPTED) result = { ...result, ...overridden(override) };
    } catch (error) {
      onFailure(error);
    }
  }
  return { ...output, payload: result };
}

/** What a hook may override, and nothing else it answers. */
function overridden({ output, images, details, stop_reason, terminate, usage }: OutputOverride): OutputOverride {
  return {
    ...(typeof output === "string" && { output }),
    ...(images && { images }),
    ...(details !== undefined && { details: jsonDetails(details) }),
    ...(stop_reason && { stop_reason }),
    ...(terminate !== undefined && { terminate }),
    ...(usage && { usage }),
  };
}

function list<T>(value: T | readonly T[] | undefined): readonly T[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? value : [value as T];
}
