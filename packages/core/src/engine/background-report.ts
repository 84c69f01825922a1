import type { BackgroundJob, BackgroundReport } from "../environment/contract.ts";
import { userText } from "../omnimessage/build.ts";
import { isType } from "../omnimessage/guards.ts";
import type { OmniMessage, TextPayload } from "../omnimessage/message.ts";
import { tagged } from "./transcript.ts";

const DONE = "background_task_done";
const MAX_LABEL_CHARS = 120;

/**
 * What the model reads when something in the background has ended: a block of plain lines, what it was, and the end of its
 * output. Nothing that was printed can pass for a block of the harness.
 */
export function reportMessage(report: BackgroundReport): OmniMessage<TextPayload> {
  const { kind, id, status, detail, output, unreadChars } = report;
  const block = tagged(DONE, [`kind: ${kind}`, `id: ${id}`, `status: ${status}`, `detail: ${detail}`].join("\n"));
  const lines = [block, labelOf(report)];
  if (unreadChars > 0) lines.push(`[${unreadChars} characters of output before these can be read by its id]`);
  if (output !== "") lines.push(tagged("background_task_output", harmless(output.replace(/\n$/, ""))));
  return userText(lines.join("\n"), "harness");
}

/** What a new model context must know of those that run: one message, none where nothing does. */
export function runningMessages(jobs: readonly BackgroundJob[]): OmniMessage[] {
  const running = jobs.filter(({ status }) => status === "running");
  if (running.length === 0) return [];
  const lines = running.map((job) => `${job.kind} ${job.id}: ${labelOf(job)}`);
  const text = ["What was started before and goes on in the background, by its ids:", ...lines].join("\n");
  return [userText(tagged("background_tasks", text), "harness")];
}

/** The id of what a recorded message reports; absent for anything else. */
export function reportedId(message: OmniMessage): string | undefined {
  if (!isType(message, "text") || message.payload.sender !== "harness") return undefined;
  return REPORT.exec(message.payload.text)?.[1];
}

const REPORT = new RegExp(`^\\[${DONE}\\]\\nkind: \\S+\\nid: (\\S+)\\n`);

/** The first line of what was started, on one line and without control characters. */
function labelOf({ title }: Pick<BackgroundJob, "title">): string {
  const line =
    title
      .trim()
      .split("\n", 1)[0]
      ?.replace(/\p{Cc}+/gu, " ") ?? "";
  const characters = [...harmless(line)];
  if (characters.length <= MAX_LABEL_CHARS) return characters.join("");
  return `${characters.slice(0, MAX_LABEL_CHARS - 1).join("")}…`;
}

/** Text in which no tag of the harness stands, be it one that begins or one that ends. */
function harmless(text: string): string {
  return text.replace(HARNESS_TAG, "\\[");
}

/** The tags of the harness are words joined by underscores, but for two. */
const HARNESS_TAG = /\[(?=\s*\/?\s*(?:goal|summary|[a-z]+(?:_[a-z]+)+)\s*\])/gi;
