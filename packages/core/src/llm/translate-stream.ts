import type { LanguageModelV3StreamPart } from "@ai-sdk/provider";
import { modelMessage } from "../omnimessage/build.ts";
import type { CompletePayload, OmniMessage, PartialPayload, StopReason } from "../omnimessage/message.ts";
import { fragmentOf, type Prose, seals, startsAnew } from "./prose.ts";
import { unmarked } from "./providers/provider.ts";
import { covers, type Fidelity, isFidelity, mergeFidelity } from "./segment-fidelity.ts";

type FilePart = Extract<LanguageModelV3StreamPart, { type: "file" }>;

interface Call {
  /** The id of the part in the provider's stream. */
  readonly partId: string;
  /** The id in the session. */
  readonly id: string;
  readonly name: string;
  readonly pieces: string[];
  fidelity: Fidelity | undefined;
  /** Text or thinking began after it. */
  followed: boolean;
}

/**
 * Turns the parts of one provider stream into messages (PC-040 to PC-047).
 *
 * Every segment is start, deltas, stop, and the complete message next (PC-006). Text and thinking are never open
 * together; pieces of several calls may be mixed. A finished call is held back until a later segment begins or
 * `end` is called: only then is it known that the output limit did not cut it.
 */
export class StreamTranslator {
  readonly #allocateCallId: (providerId: string) => string;
  readonly #toolName: (offered: string) => string;
  readonly #calls = new Map<string, Call>();
  readonly #reply: OmniMessage<CompletePayload>[] = [];
  #prose: Prose | undefined;
  #held: Call | undefined;
  #out: OmniMessage[] = [];

  /** @param toolName - The name of a tool by that under which it was offered. */
  constructor(allocateCallId: (providerId: string) => string, toolName: (offered: string) => string = (name) => name) {
    this.#allocateCallId = allocateCallId;
    this.#toolName = toolName;
  }

  /** The complete messages so far, in the order in which they were completed. */
  get reply(): readonly OmniMessage<CompletePayload>[] {
    return this.#reply;
  }

  /** What one part adds to the stream; parts that say nothing about the reply's content add nothing. */
  push(part: LanguageModelV3StreamPart): readonly OmniMessage[] {
    switch (part.type) {
      case "text-start":
        this.#openProse("text", fidelityOf(part));
        break;
      case "text-delta":
        this.#extendProse("text", part.delta, fidelityOf(part));
        break;
      case "text-end":
        this.#endProse("text", fidelityOf(part));
        break;
      case "reasoning-start":
        this.#openProse("thinking", fidelityOf(part));
        break;
      case "reasoning-delta":
        this.#extendProse("thinking", part.delta, fidelityOf(part));
        break;
      case "reasoning-end":
        this.#endProse("thinking", fidelityOf(part));
        break;
      case "tool-input-start":
        this.#openCall(part.id, part.toolName, fidelityOf(part));
        break;
      case "tool-input-delta":
        this.#extendCall(this.#calls.get(part.id), part.delta, fidelityOf(part));
        break;
      case "tool-input-end":
        this.#extendCall(this.#calls.get(part.id), "", fidelityOf(part));
        break;
      case "tool-call":
        this.#finishCall(
          this.#calls.get(part.toolCallId) ?? this.#openCall(part.toolCallId, part.toolName, undefined),
          part.input,
          fidelityOf(part),
        );
        break;
      case "file":
        this.#addFile(part);
        break;
    }
    return this.#take();
  }

  /**
   * Closes a reply that came to its end marker.
   *
   * @param cut - The reply reached its output limit: the call held back counts as cut inside its arguments.
   */
  end(cut: boolean): readonly OmniMessage[] {
    this.#closeProse("completed");
    this.#releaseHeld(cut ? "malformed" : "completed");
    for (const call of this.#calls.values()) this.#closeCall(call, "malformed");
    return this.#take();
  }

  /** Closes every open segment of a reply that broke off, each with the reason. */
  interrupt(reason: StopReason): readonly OmniMessage[] {
    if (this.#prose?.begun) this.#closeProse(reason);
    this.#releaseHeld(reason);
    for (const call of this.#calls.values()) this.#closeCall(call, reason);
    return this.#take();
  }

  #openProse(kind: Prose["kind"], fidelity: Fidelity | undefined): Prose {
    this.#closeProse("completed");
    this.#prose = { kind, pieces: [], fidelity, begun: false, sealed: false };
    return this.#prose;
  }

  #extendProse(kind: Prose["kind"], delta: string, fidelity: Fidelity | undefined): void {
    const open = this.#prose;
    const prose = open?.kind !== kind || startsAnew(open, delta, fidelity) ? this.#openProse(kind, undefined) : open;
    if (fidelity && !covers(prose.fidelity, fidelity)) {
      prose.sealed = prose.sealed || seals(prose, delta, fidelity);
      prose.fidelity = mergeFidelity(prose.fidelity, fidelity);
    }
    if (delta === "") return;
    this.#beginProse(prose);
    prose.pieces.push(delta);
    this.#emit(fragmentOf(prose.kind, "delta", delta));
  }

  #endProse(kind: Prose["kind"], fidelity: Fidelity | undefined): void {
    if (this.#prose?.kind !== kind) return;
    this.#prose.fidelity = mergeFidelity(this.#prose.fidelity, fidelity);
    this.#closeProse("completed");
  }

  #beginProse(prose: Prose): void {
    if (prose.begun) return;
    prose.begun = true;
    this.#releaseHeld("completed");
    for (const call of this.#calls.values()) call.followed = true;
    this.#emit(fragmentOf(prose.kind, "start", ""));
  }

  #closeProse(stopReason: StopReason): void {
    const prose = this.#prose;
    this.#prose = undefined;
    if (!prose || (!prose.begun && !prose.fidelity)) return;
    this.#beginProse(prose);
    this.#emit({ ...fragmentOf(prose.kind, "stop", ""), stop_reason: stopReason });
    const content = prose.pieces.join("");
    const rest = { ...(prose.fidelity && { fidelity: prose.fidelity }), stop_reason: stopReason };
    this.#complete(
      prose.kind === "text"
        ? { type: "text", role: "assistant", text: content, ...rest }
        : { type: "thinking", role: "assistant", thinking: content, ...rest },
    );
  }

  #openCall(partId: string, name: string, fidelity: Fidelity | undefined): Call {
    this.#closeProse("completed");
    this.#releaseHeld("completed");
    const unfinished = this.#calls.get(partId);
    if (unfinished) this.#closeCall(unfinished, "malformed");
    const id = this.#allocateCallId(unmarked(partId));
    const call: Call = { partId, id, name: this.#toolName(unmarked(name)), pieces: [], fidelity, followed: false };
    this.#calls.set(partId, call);
    this.#emit(callFragment(call, "start", ""));
    return call;
  }

  #extendCall(call: Call | undefined, delta: string, fidelity: Fidelity | undefined): void {
    if (!call) return;
    call.fidelity = mergeFidelity(call.fidelity, fidelity);
    if (delta === "") return;
    call.pieces.push(delta);
    this.#emit(callFragment(call, "delta", delta));
  }

  #finishCall(call: Call, input: string, fidelity: Fidelity | undefined): void {
    this.#extendCall(call, call.pieces.length === 0 ? input : "", fidelity);
    this.#calls.delete(call.partId);
    this.#releaseHeld("completed");
    if (call.followed) this.#closeCall(call, "completed");
    else this.#held = call;
  }

  #releaseHeld(stopReason: StopReason): void {
    const call = this.#held;
    this.#held = undefined;
    if (call) this.#closeCall(call, stopReason);
  }

  #closeCall(call: Call, stopReason: StopReason): void {
    this.#calls.delete(call.partId);
    if (stopReason === "completed" && call.pieces.every((piece) => piece.trim() === "")) {
      this.#extendCall(call, "{}", undefined);
    }
    this.#emit({ ...callFragment(call, "stop", ""), stop_reason: stopReason });
    this.#complete({
      type: "tool_call",
      role: "assistant",
      name: call.name,
      arguments: call.pieces.join(""),
      tool_call_id: call.id,
      ...(call.fidelity && { fidelity: call.fidelity }),
      stop_reason: stopReason,
    });
  }

  #addFile(part: FilePart): void {
    this.#closeProse("completed");
    this.#releaseHeld("completed");
    const data = typeof part.data === "string" ? part.data : Buffer.from(part.data).toString("base64");
    const fidelity = fidelityOf(part);
    this.#complete({
      type: "inline_data",
      role: "assistant",
      data,
      mime_type: part.mediaType,
      ...(fidelity && { fidelity }),
      stop_reason: "completed",
    });
  }

  #complete(payload: CompletePayload): void {
    const message = modelMessage(payload);
    this.#reply.push(message);
    this.#out.push(message);
  }

  #emit(payload: PartialPayload): void {
    this.#out.push(modelMessage(payload));
  }

  #take(): readonly OmniMessage[] {
    if (this.#out.length === 0) return NOTHING;
    const out = this.#out;
    this.#out = [];
    return out;
  }
}

const NOTHING: readonly OmniMessage[] = [];

function fidelityOf(part: { readonly providerMetadata?: unknown }): Fidelity | undefined {
  return isFidelity(part.providerMetadata) ? part.providerMetadata : undefined;
}

function callFragment(call: Call, event: "start" | "delta" | "stop", content: string): PartialPayload {
  return {
    type: "partial_tool_call",
    role: "assistant",
    event_type: event,
    name: event === "start" ? call.name : "",
    arguments: content,
    tool_call_id: call.id,
  };
}
