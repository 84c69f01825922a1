import type { ProviderFault } from "./faults.ts";
import { type Piece, parsedArguments } from "./pieces.ts";
import { type ProviderReply, partsOf } from "./script.ts";
import type { NewId, RawRequest, ReplyPlan, WireProtocol } from "./wire-protocol.ts";

/** Defaults are those of `scriptedLLM`: ten tokens in, five out, and the finish reason that fits. */
export function planReply(reply: ProviderReply, protocol: WireProtocol, request: RawRequest, newId: NewId): ReplyPlan {
  const { fault, deltaCharacters = DEFAULT_DELTA_CHARACTERS } = reply;
  const parts = partsOf(reply);
  if (!protocol.images && parts.some((part) => "image" in part)) {
    throw new RangeError("the script has an image, and replies of this protocol hold none");
  }
  const pieces = withIds(protocol.seal(parts, newId), fault);
  const called = pieces.some(({ kind }) => kind === "call");
  return {
    pieces,
    request,
    model: protocol.modelOf(request),
    finishReason: reply.finishReason ?? (called ? "tool_calls" : "stop"),
    usage: { cache_read: 0, cache_write: 10, output: 5, total: 15, ...reply.usage },
    newId,
    deltas: (text) => split(text, deltaCharacters),
    argumentDeltas: (text) => split(text, fault?.kind === "split-arguments" ? 1 : deltaCharacters),
  };
}

/**
 * What of a planned reply later requests have to hold: of its calls no ids that say nothing, and neither the arguments nor
 * the fidelity of one that the output limit cut or whose arguments are no object, since those cannot go back.
 */
export function expectedPieces(plan: ReplyPlan, fault: ProviderFault | undefined): Piece[] {
  const cut = plan.finishReason === "length" ? plan.pieces.findLast(({ kind }) => kind === "call") : undefined;
  return plan.pieces.map((piece) => {
    if (piece.kind !== "call") return piece;
    const { kind, name, id, content, fidelity } = piece;
    const whole = piece !== cut && parsedArguments(piece) !== undefined;
    return {
      ...{ kind, name, content: whole ? content : "" },
      ...(id !== undefined && fault?.kind !== "call-ids" && { id }),
      ...(fidelity && whole && { fidelity }),
    };
  });
}

const DEFAULT_DELTA_CHARACTERS = 16;

function withIds(pieces: Piece[], fault: ProviderFault | undefined): Piece[] {
  if (fault?.kind !== "call-ids") return pieces;
  const [first] = pieces.filter((piece) => piece.kind === "call");
  return pieces.map((piece) => {
    if (piece.kind !== "call") return piece;
    const { id, ...call } = piece;
    if (fault.ids === "missing") return call;
    return { ...call, id: fault.ids === "reused" ? call.name : (first?.id ?? call.name) };
  });
}

/** Never inside of a code point. */
function split(text: string, characters: number): string[] {
  const points = [...text];
  const starts = points.map((_, i) => i).filter((i) => i % characters === 0);
  return starts.map((start) => points.slice(start, start + characters).join(""));
}
