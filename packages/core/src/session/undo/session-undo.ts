import type { CallAssessment } from "../../approval/contract.ts";
import type { OnWarning } from "../../environment/contract.ts";
import { errorText } from "../../errors/error-text.ts";
import { isType } from "../../omnimessage/guards.ts";
import type { OmniMessage } from "../../omnimessage/message.ts";
import type { TaskRecorder } from "./change-recorder.ts";
import { type UndoSettings, undoLimits } from "./settings.ts";
import type { UndoStore } from "./undo-store.ts";
import type { DoneUndo, UndoOptions } from "./undo-task.ts";

/** Where undo of one session keeps things, and what for. */
export interface UndoPlace {
  readonly undoDir: string;
  readonly workspaceDir: string;
  /** Directories of the harness. */
  readonly apart: readonly string[];
  readonly settings: UndoSettings;
  /** Whether a call that may change something was allowed before this process opened the session; default false. */
  readonly mayHaveChanged?: boolean;
  readonly env: NodeJS.ProcessEnv;
  readonly onWarning: OnWarning;
}

/**
 * What a session does so that its tasks can be undone. Until a task changes a file or runs a command nothing is written,
 * and nothing more than this is loaded.
 */
export class SessionUndo {
  readonly #place: UndoPlace;
  #store: Promise<UndoStore> | undefined;
  #prompt: string | undefined;
  #recorder: Promise<TaskRecorder> | undefined;

  constructor(place: UndoPlace) {
    this.#place = place;
  }

  /** The next change belongs to another task. */
  beginTask(input: readonly OmniMessage[]): void {
    const text = input.find((message) => isType(message, "text"))?.payload.text;
    this.#prompt = text?.trim().split("\n", 1)[0]?.slice(0, MAX_PROMPT_CHARS);
    this.#recorder = undefined;
  }

  /** A file tool is about to put a content in place. Never rejects. */
  async beforeChange(realPath: string, sha256: string): Promise<void> {
    await this.#record((task) => task.beforeChange(realPath, { kind: "file", content: `sha256:${sha256}`, mode: 0 }));
  }

  /** A call is about to run. Never rejects. */
  async beforeExecution({ risk }: CallAssessment): Promise<void> {
    if (risk === "process" || risk === "delegate") await this.#record((task) => task.beforeCommand());
  }

  /** Never rejects. */
  async endTask(): Promise<void> {
    if (this.#recorder) await this.#record((task) => task.end());
    this.#recorder = undefined;
  }

  /** @throws {RookeryError} As `undoTask`. */
  async undo(options: UndoOptions = {}): Promise<DoneUndo> {
    const { undoTask } = await import("./undo-task.ts");
    const { settings, mayHaveChanged = false } = this.#place;
    const place = { ...this.#place, isOff: settings.enabled === false, mayHaveChanged };
    return await undoTask(await this.#openStore(), place, options);
  }

  async #record(work: (task: TaskRecorder) => Promise<unknown>): Promise<void> {
    if (this.#place.settings.enabled === false) return;
    try {
      this.#recorder ??= this.#openRecorder();
      await work(await this.#recorder);
    } catch (error) {
      const message = `what this task changes cannot be undone: ${errorText(error)}`;
      this.#place.onWarning({ code: "undo-incomplete", message });
    }
  }

  async #openRecorder(): Promise<TaskRecorder> {
    const prompt = this.#prompt;
    const { TaskRecorder } = await import("./change-recorder.ts");
    return new TaskRecorder(await this.#openStore(), this.#place, prompt === undefined ? {} : { prompt });
  }

  #openStore(): Promise<UndoStore> {
    const { undoDir, settings, env, onWarning } = this.#place;
    this.#store ??= import("./undo-store.ts").then(
      ({ UndoStore }) => new UndoStore(undoDir, undoLimits(settings), env, onWarning),
    );
    return this.#store;
  }
}

const MAX_PROMPT_CHARS = 120;
