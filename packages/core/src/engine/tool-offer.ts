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

  /**
   * @param introduced - Names that committed outputs of the session have introduced before.
   * @param announced - The offer that the record ends with; absent: none was made.
   */
  constructor(introduced: Iterable<string> = [], announced?: readonly ToolDefinition[]) {
    this.#introduced = new Set(introduced);
    if (announced) this.#fingerprint = JSON.stringify(announced);
  }

  get tools(): readonly ToolDefinition[] {
    return this.#offered;
  }

  has(name: string): boolean {
    return this.#offered.some((tool) => tool.name === name);
  }

  /** Takes in what the environment lists now; true when the offer changed, the first time included. */
  update(listed: readonly ToolDefinition[]): boolean {
    const offered = this.select(listed);
    this.#offered = offered;
    const fingerprint = JSON.stringify(offered);
    if (fingerprint === this.#fingerprint) return false;
    this.#fingerprint = fingerprint;
    return true;
  }

  /** Lets the next `update` count as the first: a new context announces its tools. */
  announceAgain(): void {
    this.#fingerprint = undefined;
  }

  /** Those of the listed tools that are offered now. */
  select(listed: readonly ToolDefinition[]): ToolDefinition[] {
    return listed.filter((tool) => !tool.hidden || this.#introduced.has(tool.name));
  }

  /** Remembers the names that outputs sent to the model introduce. */
  introduce(outputs: readonly OmniMessage[]): void {
    for (const message of outputs) {
      if (!isType(message, "tool_call_output")) continue;
      for (const name of message.payload.added_tool_names ?? []) this.#introduced.add(name);
    }
  }
}
