import type { LanguageModelV3StreamPart, SharedV3ProviderOptions } from "@ai-sdk/provider";
import type { Fidelity } from "../../segment-fidelity.ts";
import { unmarked } from "../provider.ts";

/** The fields of this protocol in fidelity. */
interface OwnFields {
  readonly itemId?: string;
  readonly reasoningEncryptedContent?: string;
  readonly phase?: Phase;
  readonly namespace?: string;
  readonly async?: boolean;
}

export type Phase = "commentary" | "final_answer";

/** A phase the protocol knows. */
export function readPhase(value: unknown): Phase | undefined {
  return value === "commentary" || value === "final_answer" ? value : undefined;
}

/** What of a piece's fidelity this protocol gave out, as the package takes it back. */
export function ownOptions({ [OWN]: own }: Fidelity): SharedV3ProviderOptions | undefined {
  return optionsWith(readFields(own));
}

/** The fields in options of the package. */
export function readOptions(options: SharedV3ProviderOptions | undefined): OwnFields {
  return readFields(options?.[PACKAGE]);
}

/** Options of the package that hold these fields; `undefined` for none. */
export function optionsWith(fields: OwnFields): SharedV3ProviderOptions | undefined {
  return Object.keys(fields).length > 0 ? { [PACKAGE]: { ...fields } } : undefined;
}

/** A part of the package's stream under this protocol's name, without what stands for nothing. */
export function withOwnFidelity(part: LanguageModelV3StreamPart): LanguageModelV3StreamPart {
  if (!("providerMetadata" in part) || !part.providerMetadata) return part;
  const { providerMetadata, ...rest } = part;
  const own = Object.entries(providerMetadata[PACKAGE] ?? {}).filter(([, value]) => !isNothing(value));
  return own.length > 0 ? { ...rest, providerMetadata: { [OWN]: Object.fromEntries(own) } } : rest;
}

/** The name of this protocol in fidelity, and the package's own key. */
const OWN = "openaiResponses";
const PACKAGE = "openai";

function readFields(own: Readonly<Record<string, unknown>> | undefined): OwnFields {
  if (!own) return {};
  const { itemId, reasoningEncryptedContent: encrypted, namespace, async } = own;
  const phase = readPhase(own.phase);
  return {
    ...(isWritten(itemId) && { itemId }),
    ...(isWritten(encrypted) && { reasoningEncryptedContent: encrypted }),
    ...(phase && { phase }),
    ...(isWritten(namespace) && { namespace }),
    ...(typeof async === "boolean" && { async }),
  };
}

function isNothing(value: unknown): boolean {
  return value === null || value === undefined || (typeof value === "string" && unmarked(value) !== value);
}

function isWritten(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}
