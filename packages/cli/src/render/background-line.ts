import { isType, type OmniMessage, type Session } from "@rookery/core";
import { shortened } from "./heading.ts";
import { oneLine } from "./neutralise.ts";

/** The report of something in the background as one line, for whoever sees the task go on; absent for other messages. */
export function reportLine(message: OmniMessage, columns: number): string | undefined {
  if (!isType(message, "text") || message.payload.sender !== "harness") return undefined;
  const [, detail, label] = REPORT.exec(message.payload.text) ?? [];
  return label === undefined ? undefined : shortened(oneLine(`● in the background: ${label} [${detail}]`), columns);
}

/** What is said when a task ends while commands run that end with the session; absent where none does. */
export function leftRunningLine(commands: ReturnType<Session["listBackgroundCommands"]>): string | undefined {
  const running = commands.filter(({ status }) => status === "running");
  if (running.length === 0) return undefined;
  const what =
    running.length === 1 ? "a command in the background is" : `${running.length} commands in the background are`;
  const lines = running.map(({ command }) => command.trim().split("\n", 1)[0] ?? "");
  return shortened(oneLine(`${what} ended with the session: ${lines.join("; ")}`), MAX_CHARS);
}

const MAX_CHARS = 300;
const REPORT = /^\[background_task_done\]\n[\s\S]*?\ndetail: (.*)\n\[\/background_task_done\]\n(.*)/;
