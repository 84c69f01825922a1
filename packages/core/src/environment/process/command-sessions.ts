import { createHash } from "node:crypto";
import { shorten } from "../shorten.ts";
import type { CommandSession } from "./command-session.ts";

const MAX_SESSIONS = 64;
/** How many of those that are gone are remembered, for whoever still asks for one. */
const MAX_GONE = 256;
const MAX_QUOTE_CHARS = 200;

/**
 * The commands that go on after the call that started them, by their process ids.
 *
 * There are 64 at most. For another one, one that has ended makes room, its unread output with it; if all run, the one
 * that was not used for longest and that no call is following just now is ended, else the one not used for longest
 * (PT-110, PT-111).
 */
export class CommandSessions {
  /** The least recently used first. */
  readonly #kept = new Map<string, CommandSession>();
  readonly #gone = new Map<string, string>();

  /**
   * Takes a command in; returns its id, which counts as its first use.
   *
   * @param toolCallId - Of the call that started it. The id is made from it, so that a replayed session has the same ones.
   */
  keep(session: CommandSession, toolCallId: string): string {
    while (this.#kept.size >= MAX_SESSIONS) this.#evict();
    let id = processId(toolCallId);
    while (this.#kept.has(id) || this.#gone.has(id)) id = processId(id);
    this.#kept.set(id, session);
    return id;
  }

  /** Finding one counts as using it. */
  find(id: string): CommandSession | undefined {
    const session = this.#kept.get(id);
    if (session === undefined) return undefined;
    this.#kept.delete(id);
    this.#kept.set(id, session);
    return session;
  }

  /** The same without using it. */
  peek(id: string): CommandSession | undefined {
    return this.#kept.get(id);
  }

  /** Forgets a command. @param how - What is answered when somebody asks for it later: `ended with exit code 0`. */
  remove(id: string, how: string): void {
    this.#kept.delete(id);
    this.#gone.set(id, how);
    for (const oldest of this.#gone.keys()) {
      if (this.#gone.size <= MAX_GONE) break;
      this.#gone.delete(oldest);
    }
  }

  /** Why an id leads to no command, and which ids do. */
  explainMissing(id: string): string {
    const how = this.#gone.get(id);
    if (how !== undefined) return `${id} ${how}; there is nothing more to read`;
    const ids = [...this.#kept.keys()];
    const there = ids.length > 0 ? `use one of ${ids.join(", ")}` : "none is there; start one with exec_command";
    return `no command session is named ${shorten(JSON.stringify(id), MAX_QUOTE_CHARS)}; ${there}`;
  }

  #evict(): void {
    const all = [...this.#kept];
    const [id, session] =
      all.find(([, { end }]) => end !== undefined) ?? all.find(([, { isFollowed }]) => !isFollowed) ?? all[0] ?? [];
    if (id === undefined) return;
    const room = `to make room for another command: ${MAX_SESSIONS} can be kept`;
    this.remove(id, session?.end ? `had ended and was dropped ${room}` : `was ended ${room}`);
    void session?.stop();
  }
}

function processId(seed: string): string {
  return `proc-${createHash("sha256").update(seed).digest("hex").slice(0, 8)}`;
}
