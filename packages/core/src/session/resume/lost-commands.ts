import { reportedId } from "../../engine/background-report.ts";
import type { BackgroundReport } from "../../environment/contract.ts";
import { isType } from "../../omnimessage/guards.ts";
import type { OmniMessage } from "../../omnimessage/message.ts";

/**
 * Which commands went on in the background for all the record says: their ids were given to the model, and neither an
 * output nor a report told of their end. In a session that is opened again they are gone.
 */
export class LostCommands {
  readonly #open = new Map<string, string>();

  add(message: OmniMessage): void {
    const reported = reportedId(message);
    if (reported !== undefined) this.#open.delete(reported);
    if (!isType(message, "tool_call_output")) return;
    const { process_id: id, command, exitCode } = (message.payload.details ?? {}) as Record<string, unknown>;
    if (typeof id !== "string" || !PROCESS_ID.test(id) || typeof command !== "string") return;
    if (exitCode === undefined) this.#open.set(id, command);
    else this.#open.delete(id);
  }

  /** What the model is told of them, in the order in which they were started. */
  get reports(): BackgroundReport[] {
    return [...this.#open].map(([id, title]) => ({
      kind: "command",
      id,
      title,
      status: "ended_with_harness",
      detail: "lost with the harness, and its last output with it",
      output: "",
      unreadChars: 0,
    }));
  }
}

/** As `CommandSessions` gives them. */
const PROCESS_ID = /^proc-[0-9a-f]{8}$/;
