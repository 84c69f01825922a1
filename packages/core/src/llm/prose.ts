import type { PartialPayload } from "../omnimessage/message.ts";
import { contradicts, covers, type Fidelity, fidelityField } from "./segment-fidelity.ts";

/** Text or thinking. Its `start` waits for something to show, so that an empty one leaves no message. */
export interface Prose {
  readonly kind: "text" | "thinking";
  readonly pieces: string[];
  fidelity: Fidelity | undefined;
  begun: boolean;
  /** The provider has signed what is there: more of the same kind is a new segment. */
  sealed: boolean;
}

/** PC-042 to PC-045: whether more of the same kind is a segment of its own. */
export function startsAnew(open: Prose, delta: string, fidelity: Fidelity | undefined): boolean {
  if (!fidelity) return open.sealed && delta !== "";
  if (covers(open.fidelity, fidelity)) return false;
  if (open.kind === "thinking") return open.sealed || contradicts(open.fidelity, fidelity);
  if (open.sealed) return true;
  const phase = fidelityField(fidelity, "phase");
  return phase !== undefined && open.begun && phase !== fidelityField(open.fidelity, "phase");
}

/** PC-042, PC-045: a signature, or fidelity that arrives behind the thinking it is for, ends the segment. */
export function seals(prose: Prose, delta: string, fidelity: Fidelity): boolean {
  if (SIGNATURES.some((name) => fidelityField(fidelity, name) !== undefined)) return true;
  return prose.kind === "thinking" && (prose.begun || delta === "");
}

const SIGNATURES = ["signature", "thoughtSignature"];

/** A fragment of its text. */
export function fragmentOf(kind: Prose["kind"], event: "start" | "delta" | "stop", content: string): PartialPayload {
  return kind === "text"
    ? { type: "partial_text", role: "assistant", event_type: event, text: content }
    : { type: "partial_thinking", role: "assistant", event_type: event, thinking: content };
}
