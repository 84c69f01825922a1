import { errorText } from "../../errors/error-text.ts";
import { RookeryError } from "../../errors/rookery-error.ts";
import type { LLMInterface, LLMOutcome } from "../../llm/contract.ts";
import { redactSecrets } from "../../llm/redact-secrets.ts";
import { userImage, userText } from "../../omnimessage/build.ts";
import { isType } from "../../omnimessage/guards.ts";
import type { EventPayload, OmniMessage } from "../../omnimessage/message.ts";
import { outputDelta } from "../output-delta.ts";
import type { ToolExecutionContext } from "../tool.ts";

/** How a description ended. */
export interface VisionAnswer {
  /** Absent when the model described the image. */
  readonly problem?: string;
  readonly usage?: EventPayload<"token_usage">;
}

/**
 * Asks a model about an image, once, and yields its text as output of a call, as it comes.
 *
 * Never throws: a model that cannot be made, or throws against its contract, is a problem in the answer. Whoever leaves
 * the iteration ends the request.
 */
export async function* askVisionModel(
  createLLM: () => LLMInterface,
  question: { readonly prompt: string; readonly dataUrl: string },
  { toolCallId, signal }: Pick<ToolExecutionContext, "toolCallId" | "signal">,
): AsyncGenerator<OmniMessage, VisionAnswer> {
  const { prompt, dataUrl } = question;
  const newMessages = [userText(prompt), userImage(dataUrl)];
  const reply = new ReplyText();
  let usage: EventPayload<"token_usage"> | undefined;
  let stream: AsyncGenerator<OmniMessage, LLMOutcome> | undefined;
  try {
    stream = createLLM().streamGenerate({ newMessages, ...(signal && { signal }) });
    for (;;) {
      const step = await stream.next();
      if (step.done) return { ...problemOf(step.value, reply.isEmpty), ...(usage && { usage }) };
      if (isType(step.value, "token_usage")) usage = step.value.payload;
      const text = reply.take(step.value);
      if (text !== "") yield outputDelta(toolCallId, text);
    }
  } catch (error) {
    return { problem: redactSecrets(thrownText(error), []), ...(usage && { usage }) };
  } finally {
    void stream?.return?.({ status: "aborted" })?.catch(() => undefined);
  }
}

/** The text of a reply, from its fragments, or from its complete messages where there were none. */
class ReplyText {
  #streamedChars = 0;
  isEmpty = true;

  /** What is new in a message. */
  take(message: OmniMessage): string {
    const text = this.#newIn(message);
    this.isEmpty &&= text.trim() === "";
    return text;
  }

  #newIn(message: OmniMessage): string {
    if (isType(message, "partial_text")) {
      this.#streamedChars += message.payload.text.length;
      return message.payload.text;
    }
    if (!isType(message, "text")) return "";
    const rest = message.payload.text.slice(this.#streamedChars);
    this.#streamedChars = 0;
    return rest;
  }
}

function problemOf({ status, message, finishReason }: LLMOutcome, isEmpty: boolean): Pick<VisionAnswer, "problem"> {
  if (status !== "completed") {
    return { problem: redactSecrets(message ?? `its request ended as ${status}`, []) };
  }
  if (finishReason === "content_filter") return { problem: "its provider's content filter ended the reply" };
  if (finishReason === "length") return { problem: "its reply reached the output limit" };
  return isEmpty ? { problem: "it answered without text" } : {};
}

function thrownText(error: unknown): string {
  return RookeryError.is(error) && error.hint !== undefined ? `${error.message}; ${error.hint}` : errorText(error);
}
