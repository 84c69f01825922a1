import { tagged } from "../transcript.ts";

/** What a model is asked for its summary with. */
export const SUMMARY_PROMPT = `The conversation has grown long. Write the notes from which the work goes on: whoever reads them sees nothing of what was said before. Put them between [summary] and [/summary], and call no tool.

Say, each only as far as it matters from here on:
- what was asked for, in the words that were used, with every wish and limit that still holds;
- what was decided and why, and what was tried and failed;
- what was done: files that were read, made or changed, by their paths; commands and what came of them; what runs in the background, by its id;
- where the work stands now, and the very next step;
- facts, names, numbers and short pieces of text that would have to be looked up again.`;

/** What a model is told whose reply could not be used as a summary. */
export const SUMMARY_CORRECTION =
  "The reply before this could not be used: it was no summary. Write text alone, call no tool, and do not repeat that reply.";

/** What a model is told behind attempts at a summary that stay in its history. */
export const NO_SUMMARY = "[no summary was made; the conversation goes on as it is]";

/**
 * The summary in a reply: the first `[summary]` block with something in it, else what is left without such marks, else the
 * text as it is; `undefined` for a reply of nothing but blanks.
 */
export function extractSummary(reply: string): string | undefined {
  for (const [, body = ""] of reply.matchAll(BLOCK)) if (body.trim() !== "") return body.trim();
  const unmarked = reply.replaceAll(MARK, "").trim();
  return unmarked || reply.trim() || undefined;
}

/** A summary as the first thing said in the context that goes on from it. */
export function contextSummary(summary: string): string {
  return tagged("context_summary", summary);
}

/** True for the text of a message that `contextSummary` made. */
export function isContextSummary(text: string): boolean {
  return text.startsWith("[context_summary]");
}

const BLOCK = /[[<]summary[\]>]([\s\S]*?)[[<]\/summary[\]>]/g;
const MARK = /[[<]\/?summary[\]>]/g;
