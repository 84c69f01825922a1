import { isType } from "../omnimessage/guards.ts";
import type { OmniMessage, ToolDefinition } from "../omnimessage/message.ts";

/**
 * Which tools the model is offered: all that the environment lists, less the hidden ones that no committed output has
 * introduced yet.
 */
export class ToolOffer {
  readonly #introduced: Set<string>;
  #offered: readonly ToolDefinition[] = [];
  #fingerprint: string | undefined;

  /** @param introduced - Names that committed outputs of the session have introduced before. */
  constructor(introduced: Iterable<string> = []) {
    this.#introduced = new Set(introduced);
  }

  get tools(): readonly ToolDefinition[] {
    return this.#offered;
  }

  has(name: string): boolean {
    return this.#offered.some((tool) => tool.name === name);
  }

  /** Takes in what the environment lists now; true when the offer changed, the first time included. */
  update(listed: readonly ToolDefinition[]): boolean {
    const offered = listed.filter((tool) => !tool.hidden || this.#introduced.has(tool.name));
    const fingerprint = JSON.stringify(offered);
    if (fingerprint === this.#fingerprint) return false;
    this.#fingerprint = fingerprint;
    this.#offered = offered;
    return true;
  }

  /** Remembers the names that outputs sent to the model introduce. */
  introduce(outputs: readonly OmniMessage[]): void {
    for (const message of outputs) {
      if (!isType(message, "tool_call_output")) continue;
      for (const name of message.payload.added_tool_names ?? []) this.#introduced.add(name);
    }
  }
}
