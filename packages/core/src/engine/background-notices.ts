import type { BackgroundJob, BackgroundJobs, BackgroundReport } from "../environment/contract.ts";
import type { OmniMessage } from "../omnimessage/message.ts";
import { reportMessage } from "./background-report.ts";

/** What a run is told of the background. */
export type RunNotices = Pick<BackgroundNotices, "hasPending" | "take" | "list">;

/**
 * What ended behind the calls of a session and has not been said to its model. A notice is made when it is taken, so that
 * one whose end a call has told meanwhile is none.
 */
export class BackgroundNotices {
  readonly #sources: readonly BackgroundJobs[];
  #lost: readonly BackgroundReport[];
  #isClosed = false;

  /** @param lost - Reports that only the record still gives; they wait for the next run and wake nobody. */
  constructor(sources: readonly BackgroundJobs[] = [], lost: readonly BackgroundReport[] = []) {
    this.#sources = sources;
    this.#lost = lost;
  }

  /** Whether `take` would give something. */
  get hasPending(): boolean {
    return this.hasNews || (!this.#isClosed && this.#lost.length > 0);
  }

  /** The same without what was lost. */
  get hasNews(): boolean {
    return !this.#isClosed && this.#sources.some(({ hasReports }) => hasReports);
  }

  /** The notices as messages for the model; each is given once. */
  take(): OmniMessage[] {
    if (this.#isClosed) return [];
    const lost = this.#lost;
    this.#lost = [];
    return [...lost, ...this.#sources.flatMap((source) => source.takeReports())].map(reportMessage);
  }

  /** What runs, and what has ended and was not said. */
  list(): BackgroundJob[] {
    return this.#sources.flatMap((source) => source.list());
  }

  /** Ends one without a notice; false where none of this id runs. */
  async kill(id: string): Promise<boolean> {
    for (const source of this.#sources) if (await source.kill(id)) return true;
    return false;
  }

  /** Told when something has ended. */
  onSettled(listener: () => void): void {
    for (const source of this.#sources) source.onSettled(listener);
  }

  /** Gives nothing from now on. */
  close(): void {
    this.#isClosed = true;
  }

  /** For a run that is not to be told: its notices stay. */
  held(): RunNotices {
    return { hasPending: false, take: () => [], list: () => this.list() };
  }
}
