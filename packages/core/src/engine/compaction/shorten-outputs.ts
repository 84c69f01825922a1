import { estimateMessageTokens } from "../../omnimessage/estimate-tokens.ts";
import { isType } from "../../omnimessage/guards.ts";
import type { OmniMessage, ToolCallOutputPayload } from "../../omnimessage/message.ts";

/** Characters that stay of a shortened output, of its beginning and of its end: exit codes and archive notes stand last. */
const HEAD_CHARS = 500;
const TAIL_CHARS = 700;

/**
 * A conversation in which old tool outputs are shortened to their beginnings and ends, and their images taken out. Calls,
 * texts and the latest outputs are unchanged; so is what names the file with the whole text.
 *
 * @param keepTokens - The latest outputs that stay as they are, together, in tokens.
 */
export function shortenOutputs(messages: readonly OmniMessage[], keepTokens: number): OmniMessage[] {
  let left = keepTokens;
  return messages
    .toReversed()
    .map((message) => {
      if (!isType(message, "tool_call_output")) return message;
      left -= estimateMessageTokens([message]);
      return left >= 0 ? message : { ...message, payload: shortened(message.payload) };
    })
    .reverse();
}

function shortened({ images, ...payload }: ToolCallOutputPayload): ToolCallOutputPayload {
  const without = images?.length ? `\n[${images.length} images were left out to save room]` : "";
  return { ...payload, output: shortenedText(payload.output) + without };
}

function shortenedText(text: string): string {
  const characters = [...text];
  const omitted = characters.length - HEAD_CHARS - TAIL_CHARS;
  if (omitted <= 0) return text;
  const tail = characters.slice(-TAIL_CHARS).join("");
  const archive = ARCHIVE_NOTE.exec(text)?.[0];
  const lost = archive !== undefined && !tail.includes(archive) ? `${archive}\n` : "";
  return `${characters.slice(0, HEAD_CHARS).join("")}\n[... ${omitted} characters were left out to save room ...]\n${lost}${tail}`;
}

/** As the environment writes it behind an output that was cut. */
const ARCHIVE_NOTE = /^\[output truncated: .*\]$/m;
