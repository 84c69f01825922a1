import { isCommit } from "../../engine/next-input.ts";
import { addSpending, NO_SPENDING, type Spending } from "../../engine/run-outcome.ts";
import { isType } from "../../omnimessage/guards.ts";
import type { EventPayload, OmniMessage } from "../../omnimessage/message.ts";
import { AllowedChanges } from "./allowed-changes.ts";
import { LostCommands } from "./lost-commands.ts";

/** What a session knows beyond its model context, gathered from the records of all its contexts in order. */
export class SessionMemory {
  /** Of every tool call, so that none comes twice. */
  readonly callIds: Set<string> = new Set();
  /** The content that each file had when a tool last read or wrote it, by its real path. */
  readonly seenFiles: Map<string, string> = new Map();
  readonly lostCommands: LostCommands = new LostCommands();
  readonly #changes = new AllowedChanges();
  readonly #introduced = new Map<string, readonly string[]>();
  readonly #committed = new Set<string>();
  #calls: string[] = [];
  #spent = NO_SPENDING;

  add(message: OmniMessage): void {
    this.lostCommands.add(message);
    this.#changes.add(message);
    if (isType(message, "request_begin")) this.#calls = [];
    else if (isType(message, "tool_call")) this.#addCall(message.payload.tool_call_id);
    else if (isType(message, "tool_call_output")) this.#addOutput(message.payload);
    else if (isType(message, "undo")) this.#addUndo(message.payload);
    else if (isType(message, "token_usage") && message.payload.source === undefined) {
      const { request, cost_usd } = message.payload;
      this.#spent = addSpending(this.#spent, { turns: 1, usage: request, ...(cost_usd !== undefined && { cost_usd }) });
    } else if (isCommit(message)) for (const id of this.#calls) this.#committed.add(id);
  }

  /** Whether a call of a tool that does not only read was allowed. */
  get mayHaveChanged(): boolean {
    return this.#changes.areAny;
  }

  /** The names of tools that committed outputs introduced. */
  get introduced(): string[] {
    return [...this.#introduced].flatMap(([id, names]) => (this.#committed.has(id) ? names : []));
  }

  get spent(): Spending {
    return this.#spent;
  }

  #addCall(id: string): void {
    this.callIds.add(id);
    this.#calls.push(id);
  }

  #addUndo({ files }: EventPayload<"undo">): void {
    for (const { path, sha256 } of files) {
      if (sha256 === undefined) this.seenFiles.delete(path);
      else this.seenFiles.set(path, sha256);
    }
  }

  #addOutput({ tool_call_id, details, added_tool_names: names }: OutputPayload): void {
    if (names) this.#introduced.set(tool_call_id, names);
    const { path, sha256 } = (details ?? {}) as { path?: unknown; sha256?: unknown };
    if (typeof path === "string" && typeof sha256 === "string") this.seenFiles.set(path, sha256);
  }
}

type OutputPayload = Extract<OmniMessage["payload"], { type: "tool_call_output" }>;
