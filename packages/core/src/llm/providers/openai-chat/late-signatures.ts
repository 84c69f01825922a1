import type { Transformer } from "node:stream/web";
import type { LanguageModelV3, LanguageModelV3StreamPart } from "@ai-sdk/provider";
import { isJsonObject } from "../../json-value.ts";

type Part = LanguageModelV3StreamPart;

/**
 * The model, with thought signatures wherever a server puts them: the package reads that of a call's first piece and
 * passes over one that comes with a later piece, though it finishes no call before the stream ends.
 */
export function withLateSignatures(model: LanguageModelV3): Pick<LanguageModelV3, "doStream"> {
  return {
    doStream: async (options) => {
      const result = await model.doStream({ ...options, includeRawChunks: true });
      return { ...result, stream: result.stream.pipeThrough(new TransformStream(addsSignatures())) };
    },
  };
}

function addsSignatures(): Transformer<Part, Part> {
  const ids = new Map<unknown, string>();
  const signatures = new Map<string, string>();
  return {
    transform(part, controller) {
      if (part.type === "raw") {
        for (const { index, id, extra_content: extra } of piecesOf(part.rawValue)) {
          if (typeof id === "string") ids.set(index, id);
          const call = ids.get(index);
          const google = isJsonObject(extra) ? extra.google : undefined;
          const signature = isJsonObject(google) ? google.thought_signature : undefined;
          if (call !== undefined && typeof signature === "string" && signature !== "") signatures.set(call, signature);
        }
        return;
      }
      const thoughtSignature = part.type === "tool-call" ? signatures.get(part.toolCallId) : undefined;
      controller.enqueue(
        part.type === "tool-call" && thoughtSignature !== undefined
          ? { ...part, providerMetadata: { google: { thoughtSignature } } }
          : part,
      );
    },
  };
}

function piecesOf(event: unknown): Record<string, unknown>[] {
  const choice = isJsonObject(event) && Array.isArray(event.choices) ? event.choices[0] : undefined;
  const delta = isJsonObject(choice) ? choice.delta : undefined;
  return isJsonObject(delta) && Array.isArray(delta.tool_calls) ? delta.tool_calls.filter(isJsonObject) : [];
}
