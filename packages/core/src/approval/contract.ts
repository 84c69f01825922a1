import type { OmniMessage, ToolCallPayload, ToolPermission, ToolRisk } from "../omnimessage/message.ts";

/** What a call would do, found out without doing anything. */
export interface CallAssessment {
  /** The arguments after `prepareArguments` and conversion; absent when they could not be read. */
  readonly args?: Record<string, unknown>;
  /** Why the call cannot run (unknown tool, bad arguments); the model reads it as the output. */
  readonly error?: string;
  readonly risk: ToolRisk;
  /** One or more lines from which alone a person can decide. */
  readonly summary: string;
  readonly executionMode: "parallel" | "sequential";
  /** The command line the call would run, for policy and rules. */
  readonly commandText?: string;
  /** Absolute real paths the call would read or write. */
  readonly paths?: { readonly read?: readonly string[]; readonly write?: readonly string[] };
  /** The tool's own; comes back untouched at execution (the hash a write was shown against). */
  readonly state?: unknown;
}

/** What an ApproveFn is told about a call beside the call itself. */
export interface ApprovalContext {
  readonly summary: string;
  readonly risk: ToolRisk;
  readonly permission: ToolPermission;
  readonly commandText?: string;
  readonly paths?: CallAssessment["paths"];
  readonly workspace: string;
  readonly origin?: readonly string[];
  /** Set on a call that will not run whatever the answer is. */
  readonly error?: string;
}

export type ApprovalDecision = "allow" | "deny";

/**
 * A decision with who took it and why.
 *
 * `decidedBy: "default"` says that nobody was there to answer: a run with such a denial ends `failed`, code
 * `approval-unanswered`. Without `decidedBy`, the user decided.
 */
export interface ApprovalAnswer {
  readonly decision: ApprovalDecision;
  readonly decidedBy?: "user" | "mode" | "rule" | "default";
  readonly reason?: string;
}

/**
 * Decides on one complete tool call (PT-171). Called once per call, one at a time; a throw counts as deny (PC-088).
 */
export type ApproveFn = (
  toolCall: OmniMessage<ToolCallPayload>,
  context: ApprovalContext,
) => Promise<ApprovalDecision | ApprovalAnswer>;

/** Who forbids a call, and by which rule. */
export interface Veto {
  readonly decidedBy: "policy" | "rule";
  readonly reason: string;
}

/** Forbids calls to every host, whoever would allow them; absent where nothing does. */
export type VetoFn = (tool: string, context: ApprovalContext) => Veto | undefined;

/** `allow-all` and `deny-all` decide by themselves; the others leave calls to a person (PT-173 to PT-177). */
export type ApprovalMode = "allow-all" | "deny-all" | "read-only" | "always-ask";
