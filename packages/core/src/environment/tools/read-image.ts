import { singleOutput } from "../files/single-output.ts";
import { spellSource } from "../images/image-source.ts";
import { imageDetails, imageReader, imageTraits, SOURCE_PARAMETER } from "../images/image-tool.ts";
import type { BuiltinToolModule } from "../tool.ts";

/** Shows an image to a model that sees. */
export const readImage: BuiltinToolModule = {
  definition: {
    name: "read_image",
    description:
      "Look at an image: a PNG, JPEG, GIF or WebP of at most 5 MiB and 8000 pixels a side, from a file or a public web address.",
    parameters: { type: "object", properties: { source: SOURCE_PARAMETER }, required: ["source"] },
    permission: "r",
    forModel: "vision",
    timeoutMs: 60_000,
  },
  create(definition, config) {
    const read = imageReader(config);
    return {
      name: definition.name,
      definition,
      risk: "read_only",
      ...imageTraits("read"),
      execute(args, context) {
        const path = typeof args.source === "string" ? spellSource(args.source) : undefined;
        return singleOutput({ toolCallId: context.toolCallId, verb: "read", path }, async () => {
          const image = await read(args, context);
          const { format, width, height, bytes, dataUrl } = image;
          const text = `[${format} image, ${width} x ${height} pixels, ${bytes} bytes]`;
          return { text, images: [dataUrl], details: imageDetails(args, image) };
        });
      },
    };
  },
};
