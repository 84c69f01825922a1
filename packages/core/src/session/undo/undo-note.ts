import { tagged } from "../../engine/transcript.ts";
import { modelVisiblePath } from "../../environment/model-visible-path.ts";
import { eventMessage, userText } from "../../omnimessage/build.ts";
import type { OmniMessage } from "../../omnimessage/message.ts";
import type { DoneUndo } from "./undo-task.ts";

const MAX_NAMED = 50;

/** What the record says of an undo: the event for programs, and a text that the next request brings. Empty where nothing changed. */
export function undoRecords({ result: { task }, changed }: DoneUndo): OmniMessage[] {
  if (task === undefined || changed.length === 0) return [];
  const lines = changed.slice(0, MAX_NAMED).map(({ path, action }) => {
    const done = action === "deleted" ? "taken away" : "put back";
    return `- ${done}: ${JSON.stringify(modelVisiblePath(path))}`;
  });
  const more = changed.length > MAX_NAMED ? [`- and ${changed.length - MAX_NAMED} more`] : [];
  const text = [
    "The user has undone changes of an earlier task. These files are as they were before it:",
    ...lines,
    ...more,
  ];
  return [
    eventMessage({ type: "undo", task, files: [...changed] }),
    userText(tagged("undone", text.join("\n")), "harness"),
  ];
}
