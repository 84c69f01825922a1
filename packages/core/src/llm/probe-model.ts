import { errorText } from "../errors/error-text.ts";
import { userData, userText } from "../omnimessage/build.ts";
import { isType, ofType } from "../omnimessage/guards.ts";
import type { OmniMessage, TokenCounts, ToolDefinition } from "../omnimessage/message.ts";
import { colourImage } from "./colour-image.ts";
import type { LLMInterface, LLMOutcome } from "./contract.ts";
import { isJsonObject, parseJson } from "./json-value.ts";

/** Whether something works, and what that was seen by. */
export interface ProbeFinding {
  readonly verdict: "yes" | "no" | "not seen";
  readonly reason: string;
}

/** What a request may ask of a model besides an answer. */
export type ProbedFeature = (typeof FEATURES)[number];

/** What one request showed of a model. */
export interface ModelProbe {
  readonly outcome: LLMOutcome;
  /** What the provider's words say it refused the request for. */
  readonly refused: readonly ProbedFeature[];
  readonly streaming: ProbeFinding;
  readonly tools: ProbeFinding;
  readonly images: ProbeFinding;
  readonly thinking: ProbeFinding;
  /** Absent when the request did not complete. */
  readonly usage?: TokenCounts;
  readonly cost_usd?: number;
}

/** What a model is asked for; what it is known not to be able to do would only get the request refused. */
export interface ProbeRequest {
  /** The model's name, which says nothing of it where it stands in a refusal. */
  readonly modelId: string;
  readonly image: boolean;
  readonly thinking: boolean;
  readonly signal?: AbortSignal;
}

/** The tool that a probed model is to be made with. */
export const PROBE_TOOL: ToolDefinition = {
  name: "report_colour",
  description: "Reports the colour that was seen.",
  parameters: {
    type: "object",
    properties: {
      colour: { type: "string", enum: ["red", "orange", "yellow", "green", "blue", "purple", "black", "white"] },
    },
    required: ["colour"],
  },
};

/**
 * Makes one request, with an image of one colour, a tool that takes its name, and thinking, and judges by what comes.
 *
 * @param llm - Made with {@link PROBE_TOOL} and without a history.
 */
export async function probeModel(llm: LLMInterface, request: ProbeRequest): Promise<ModelProbe> {
  const messages: OmniMessage[] = [];
  const outcome = await ask(llm, request, messages);
  const usage = ofType(messages, "token_usage")[0]?.payload;
  const asked = { tools: true, images: request.image, thinking: request.thinking };
  const words = refusalOf(outcome, request.modelId);
  const refused = FEATURES.filter((name) => asked[name] && REFUSALS[name].test(words));
  const judged = (finding: ProbeFinding, feature?: ProbedFeature): ProbeFinding => {
    if (finding.verdict !== "not seen" || outcome.status === "completed") return finding;
    if (feature && refused.includes(feature)) return { verdict: "no", reason: "the provider refused it" };
    return { verdict: "not seen", reason: outcome.permanent ? "the request was refused" : "the request failed" };
  };
  return {
    outcome,
    refused,
    streaming: judged(streamingOf(messages)),
    tools: judged(toolsOf(messages), "tools"),
    images: request.image ? judged(imagesOf(messages), "images") : NO_VISION,
    thinking: request.thinking ? judged(thinkingOf(messages), "thinking") : NO_THINKING,
    ...(usage && { usage: usage.request }),
    ...(usage?.cost_usd !== undefined && { cost_usd: usage.cost_usd }),
  };
}

/** What the provider found wrong with the request itself, without the model's name; empty for any other end. */
function refusalOf({ message = "" }: LLMOutcome, modelId: string): string {
  if (!/^the provider answered HTTP (400|422)\b/.test(message)) return "";
  const names = [modelId, modelId.slice(modelId.lastIndexOf("/") + 1)];
  const words = message.split(/[\s"'`(),;]+/).filter((word) => !names.includes(word.replace(/[.:]+$/, "")));
  return words.join(" ");
}

const FEATURES = ["tools", "images", "thinking"] as const;

/** How a provider speaks of a feature when it refuses a request for it. */
const REFUSALS: Readonly<Record<ProbedFeature, RegExp>> = {
  tools: /\b(tools?|functions?)\b|tool_(choice|use|call)/i,
  images: /image|vision|multi-?modal|modalit/i,
  thinking: /thinking|reasoning/i,
};

const IMAGE_COLOUR = "orange";
const IMAGE_RGB = [255, 140, 0] as const;
const IMAGE_SIDE = 64;
const NO_VISION: ProbeFinding = { verdict: "no", reason: "it is known to see no images, and was sent none" };
const NO_THINKING: ProbeFinding = { verdict: "no", reason: "it is known not to think, and was not asked to" };

/** Never throws: what a model throws against its contract is an outcome too. */
async function ask(
  llm: LLMInterface,
  { image, thinking, signal }: ProbeRequest,
  messages: OmniMessage[],
): Promise<LLMOutcome> {
  const task = `Say in one sentence what colour it is, then report it with ${PROBE_TOOL.name}.`;
  const newMessages = image
    ? [
        userText(`Look at this image: it has one colour. ${task}`),
        userData(colourImage(IMAGE_RGB, IMAGE_SIDE), "image/png"),
      ]
    : [userText(`Think of the colour of a carrot. ${task}`)];
  try {
    const reply = llm.streamGenerate({
      newMessages,
      ...(thinking && { thinkingLevel: "medium" }),
      ...(signal && { signal }),
    });
    for (;;) {
      const step = await reply.next();
      if (step.done) return step.value;
      messages.push(step.value);
    }
  } catch (error) {
    return { status: "failed", message: errorText(error) };
  }
}

function streamingOf(messages: readonly OmniMessage[]): ProbeFinding {
  const pieces = messages.filter(
    (message) =>
      (isType(message, "partial_text") ||
        isType(message, "partial_thinking") ||
        isType(message, "partial_tool_call")) &&
      message.payload.event_type === "delta",
  ).length;
  if (pieces > 1) return { verdict: "yes", reason: `the reply came in ${pieces} pieces` };
  return { verdict: "not seen", reason: "the reply came in one piece" };
}

function toolsOf(messages: readonly OmniMessage[]): ProbeFinding {
  const call = ofType(messages, "tool_call")[0]?.payload;
  if (!call) return { verdict: "not seen", reason: "it answered without a call" };
  if (call.name !== PROBE_TOOL.name)
    return { verdict: "no", reason: `it called ${call.name}, which it was not offered` };
  if (isJsonObject(parseJson(call.arguments))) return { verdict: "yes", reason: `it called ${call.name}` };
  return { verdict: "no", reason: "the arguments of its call are no JSON object" };
}

function imagesOf(messages: readonly OmniMessage[]): ProbeFinding {
  const said =
    reportedColour(messages) ??
    ofType(messages, "text")
      .map(({ payload }) => payload.text)
      .join(" ");
  if (new RegExp(`\\b${IMAGE_COLOUR}\\b`, "i").test(said)) {
    return { verdict: "yes", reason: `it named the colour of the image, ${IMAGE_COLOUR}` };
  }
  const named = /\b(red|yellow|green|blue|purple|black|white)\b/i.exec(said)?.[1];
  if (named === undefined) return { verdict: "not seen", reason: "it named no colour" };
  return { verdict: "no", reason: `it named ${named.toLowerCase()}, the image is ${IMAGE_COLOUR}` };
}

function reportedColour(messages: readonly OmniMessage[]): string | undefined {
  const args = parseJson(ofType(messages, "tool_call")[0]?.payload.arguments ?? "");
  return isJsonObject(args) && typeof args.colour === "string" ? args.colour : undefined;
}

function thinkingOf(messages: readonly OmniMessage[]): ProbeFinding {
  const isThinking = messages.some((message) => isType(message, "thinking") || isType(message, "inline_thinking"));
  if (isThinking) return { verdict: "yes", reason: "thinking came with the reply" };
  return { verdict: "not seen", reason: "no thinking came with the reply" };
}
