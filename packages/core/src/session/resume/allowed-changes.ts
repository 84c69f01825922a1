import { isType } from "../../omnimessage/guards.ts";
import type { OmniMessage } from "../../omnimessage/message.ts";

/** Whether a session allowed a call of a tool that does not only read, from its records in order. */
export class AllowedChanges {
  #reading: ReadonlySet<string> = new Set();
  #calls: string[] = [];
  #areAny = false;

  get areAny(): boolean {
    return this.#areAny;
  }

  add(message: OmniMessage): void {
    if (this.#areAny) return;
    if (isType(message, "tool_list_ready")) {
      const reading = message.payload.tools.filter(({ permission }) => permission === "r");
      this.#reading = new Set(reading.map(({ name }) => name));
    } else if (isType(message, "request_begin")) this.#calls = [];
    else if (isType(message, "tool_call") && !this.#reading.has(message.payload.name))
      this.#calls.push(message.payload.tool_call_id);
    else if (isType(message, "approval_decision") && message.payload.decision === "allow")
      this.#areAny = this.#calls.includes(message.payload.tool_call_id);
  }
}
