import type { LLMInterface } from "../../llm/contract.ts";
import type { OmniMessage } from "../../omnimessage/message.ts";
import { toToolUsage } from "../../omnimessage/token-counts.ts";
import type { ToolResult, VisionDescriberService } from "../contract.ts";
import { optionalTextArgument } from "../files/file-arguments.ts";
import { FileProblem, problemText } from "../files/file-problem.ts";
import { askVisionModel } from "../images/ask-vision-model.ts";
import { spellSource } from "../images/image-source.ts";
import { imageDetails, imageReader, imageTraits, SOURCE_PARAMETER } from "../images/image-tool.ts";
import { outputDelta } from "../output-delta.ts";
import { shorten } from "../shorten.ts";
import type { BuiltinToolModule } from "../tool.ts";

const DEFAULT_PROMPT =
  "Describe this image in detail for somebody who cannot see it: what it shows, how its parts are placed, and every text " +
  "in it, word for word.";

/** Has another model look at an image, for one that does not see. */
export const describeImage: BuiltinToolModule = {
  definition: {
    name: "describe_image",
    description:
      "Have a model that can see describe an image, or answer a question about it: a PNG, JPEG, GIF or WebP of at most 5 MiB and 8000 pixels a side, from a file or a public web address.",
    parameters: {
      type: "object",
      properties: {
        source: SOURCE_PARAMETER,
        prompt: { type: "string", description: "What to ask about the image. Default: a detailed description." },
      },
      required: ["source"],
    },
    permission: "r",
    forModel: "text-only",
    timeoutMs: 90_000,
  },
  create(definition, config) {
    const read = imageReader(config);
    const describer = config.services?.visionDescriber;
    const traits = imageTraits(`have ${describer?.modelId ?? "no model"} describe`);
    return {
      name: definition.name,
      definition,
      risk: "read_only",
      ...traits,
      async approvalSummary(args, context) {
        const prompt = optionalTextArgument(args, "prompt");
        const summary = await traits.approvalSummary(args, context);
        return prompt === undefined ? summary : `${summary}, asked: ${shorten(prompt, MAX_SHOWN_PROMPT_CHARS)}`;
      },
      async *execute(args, context): AsyncGenerator<OmniMessage, ToolResult> {
        const vision = usable(describer);
        try {
          const image = await read(args, context);
          if (typeof vision === "string") throw new FileProblem(vision);
          const prompt = optionalTextArgument(args, "prompt") || DEFAULT_PROMPT;
          const { dataUrl } = image;
          const { problem, usage } = yield* askVisionModel(vision.createLLM, { prompt, dataUrl }, context);
          return {
            ...(problem === undefined
              ? { stopReason: "completed" }
              : { stopReason: "failed", note: `[${vision.modelId} did not describe the image: ${problem}]` }),
            details: { ...imageDetails(args, image), model: vision.modelId },
            ...(usage && { usage: toToolUsage(usage) }),
          };
        } catch (error) {
          const reasons = new Set([problemText(error), ...(typeof vision === "string" ? [vision] : [])]);
          const source = typeof args.source === "string" ? ` ${spellSource(args.source)}` : "";
          yield outputDelta(context.toolCallId, `cannot describe${source}: ${[...reasons].join("; besides, ")}`);
          return { stopReason: "failed" };
        }
      },
    };
  },
};

const MAX_SHOWN_PROMPT_CHARS = 500;

/** The service as it can be used; otherwise why it cannot. */
function usable(
  describer: VisionDescriberService | undefined,
): { readonly modelId: string; readonly createLLM: () => LLMInterface } | string {
  const { modelId = null, createLLM } = describer ?? {};
  if (modelId !== null && createLLM !== undefined) return { modelId, createLLM };
  return (
    "no vision model is configured, so that nobody can look at the image; ask the user to choose one with rookery " +
    "config model vision PROVIDER/MODEL_ID (vision_model of the project), or work without the image"
  );
}
