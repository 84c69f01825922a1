import type { LanguageModelV3StreamPart, SharedV3ProviderOptions } from "@ai-sdk/provider";
import { isJsonObject } from "../../json-value.ts";
import type { Fidelity } from "../../segment-fidelity.ts";

/**
 * The thought signatures of one reply, wherever a server puts them: the package reads that of a call's first piece and
 * passes over one that comes with a later piece, though it finishes no call before the stream ends.
 */
export class LateSignatures {
  readonly #ids = new Map<unknown, string>();
  readonly #byId = new Map<string, string>();

  /** Pieces of calls, mended. */
  note(pieces: readonly Record<string, unknown>[]): void {
    for (const { index, id, extra_content: extra } of pieces) {
      if (typeof id === "string") this.#ids.set(index, id);
      const call = this.#ids.get(index);
      const google = isJsonObject(extra) ? extra.google : undefined;
      const signature = isJsonObject(google) ? google.thought_signature : undefined;
      if (call !== undefined && typeof signature === "string" && signature !== "") this.#byId.set(call, signature);
    }
  }

  /** A part of the package's stream, with the signature if it is a call that has one. */
  complete(part: LanguageModelV3StreamPart): LanguageModelV3StreamPart {
    const thoughtSignature = part.type === "tool-call" ? this.#byId.get(part.toolCallId) : undefined;
    if (part.type !== "tool-call" || thoughtSignature === undefined) return part;
    return { ...part, providerMetadata: { [OWN]: { thoughtSignature } } };
  }
}

/** The package hands signatures out under the name of the provider, and takes them back under Google's. */
export function signatureOptions({ [OWN]: own }: Fidelity): SharedV3ProviderOptions | undefined {
  const thoughtSignature = own?.thoughtSignature;
  return typeof thoughtSignature === "string" ? { google: { thoughtSignature } } : undefined;
}

/** The name of this protocol in fidelity. */
export const OWN = "openaiChat";
