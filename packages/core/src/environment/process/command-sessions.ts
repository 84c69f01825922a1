import { createHash } from "node:crypto";
import type { BackgroundJob, BackgroundJobs, BackgroundReport } from "../contract.ts";
import { shorten } from "../shorten.ts";
import { shortVerdict } from "./command-report.ts";
import type { CommandSession } from "./command-session.ts";
import { redactVault } from "./redact-vault.ts";
import type { ProcessEnd } from "./run-process.ts";

const MAX_SESSIONS = 64;
/** How many of those that are gone are remembered, for whoever still asks for one. */
const MAX_GONE = 256;
const MAX_QUOTE_CHARS = 200;
/** What a report gives of the output. */
const MAX_REPORTED_CHARS = 4_000;
/** What those give together that are taken at once: a request that does not fit would say them again, and never fit. */
const MAX_TOGETHER_CHARS = 16_000;

/**
 * The commands that go on after the call that started them, by their process ids.
 *
 * There are 64 at most. For another one, one that has ended makes room, its unread output with it but for its report; if all run, the one
 * that was not used for longest and that no call is following just now is ended, else the one not used for longest
 * (PT-110, PT-111).
 *
 * The end of each is told once: by the call that reads it, or else by a report.
 */
export class CommandSessions implements BackgroundJobs {
  /** The least recently used first. */
  readonly #kept = new Map<string, CommandSession>();
  readonly #gone = new Map<string, string>();
  /** Those whose end nobody was told; some are kept no more. */
  readonly #untold = new Map<string, CommandSession>();
  #onSettled: () => void = () => undefined;

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
    this.#untold.set(id, session);
    void session.ended.then(() => this.#onSettled());
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

  /** Forgets a command whose end was told. @param how - What is answered when somebody asks for it later: `ended with exit code 0`. */
  remove(id: string, how: string): void {
    this.#untold.delete(id);
    this.#drop(id, how);
  }

  list(): BackgroundJob[] {
    return [...this.#kept]
      .filter(([id, { end }]) => end === undefined || this.#untold.has(id))
      .map(([id, session]) => ({
        ...jobOf(id, session),
        startedAt: session.startedAt,
        status: session.end === undefined ? "running" : "ended",
      }));
  }

  get hasReports(): boolean {
    return this.#settled().length > 0;
  }

  /** What a report does not show of the output stays to be read while the command is kept. */
  takeReports(): BackgroundReport[] {
    const settled = this.#settled();
    const maxChars = Math.min(MAX_REPORTED_CHARS, Math.floor(MAX_TOGETHER_CHARS / settled.length));
    return settled.map(({ id, session, end }) => {
      this.#untold.delete(id);
      return this.#report(id, session, end, maxChars);
    });
  }

  async kill(id: string): Promise<boolean> {
    const session = this.#kept.get(id);
    if (session === undefined || session.end !== undefined) return false;
    this.remove(id, "was ended by the user");
    await session.stop();
    return true;
  }

  onSettled(listener: () => void): void {
    this.#onSettled = listener;
  }

  /** One that a call follows is that call's to tell of. */
  #settled(): { id: string; session: CommandSession; end: ProcessEnd }[] {
    return [...this.#untold].flatMap(([id, session]) =>
      session.end === undefined || session.isFollowed ? [] : { id, session, end: session.end },
    );
  }

  #report(id: string, session: CommandSession, end: ProcessEnd, maxChars: number): BackgroundReport {
    const { text: output, leftChars } = session.takeEnd(maxChars);
    const { status, detail } = shortVerdict(end);
    return {
      ...jobOf(id, session),
      status,
      detail: (status === "aborted" && this.#gone.get(id)) || detail,
      output,
      unreadChars: this.#kept.has(id) ? leftChars : 0,
    };
  }

  #drop(id: string, how: string): void {
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
    this.#drop(id, session?.end ? `had ended and was dropped ${room}` : `was ended ${room}`);
    // Only its report can still show it.
    session?.limitUnread(MAX_REPORTED_CHARS);
    void session?.stop();
  }
}

function jobOf(
  id: string,
  { started: { command, vault } }: CommandSession,
): Pick<BackgroundJob, "kind" | "id" | "title"> {
  return { kind: "command", id, title: redactVault(command, vault) };
}

function processId(seed: string): string {
  return `proc-${createHash("sha256").update(seed).digest("hex").slice(0, 8)}`;
}
