import type { OnWarning } from "../environment/contract.ts";
import { quietly } from "../environment/warn-on-stderr.ts";
import { errorText } from "../errors/error-text.ts";
import { RookeryError } from "../errors/rookery-error.ts";
import { userText } from "../omnimessage/build.ts";
import type { OmniMessage } from "../omnimessage/message.ts";
import type { AgentEvent } from "./agent-event.ts";
import { AgentEventView } from "./agent-events.ts";
import type { AgentMessage } from "./agent-message.ts";
import type { AgentOptions, AnyTool } from "./agent-options.ts";
import { type OpenedSession, openSession } from "./open-session.ts";
import type { Model } from "./stream-fn.ts";
import { WaitingInput } from "./waiting-input.ts";

/** Hears what happens, in order; the run waits for it. What it throws is a warning. */
export type AgentListener = (event: AgentEvent, signal: AbortSignal) => void | Promise<void>;

export interface AgentState {
  readonly systemPrompt: string;
  readonly model: Model | undefined;
  readonly tools: readonly AnyTool[];
  /** All of the conversation so far. */
  readonly messages: readonly AgentMessage[];
  readonly isStreaming: boolean;
  /** Why the last run did not complete. */
  readonly errorMessage: string | undefined;
}

/**
 * pi's agent over a Rookery session: one conversation, recorded like any other.
 *
 * Nothing happens before the first prompt. `dispose` ends what it has started.
 *
 * @example
 * await using agent = new Agent({ initialState: { systemPrompt: "Be brief.", tools: [weatherTool] }, streamFn });
 * agent.subscribe((event) => console.log(event.type));
 * await agent.prompt("How warm is it in Oslo?");
 */
export class Agent {
  readonly #options: AgentOptions;
  readonly #warn: OnWarning;
  readonly #listeners = new Set<AgentListener>();
  readonly #messages: AgentMessage[] = [];
  #opened: Promise<OpenedSession> | undefined;
  #running: { readonly stop: AbortController; readonly ended: Promise<void> } | undefined;
  #errorMessage: string | undefined;
  #isDisposed = false;
  readonly #said = new WaitingInput();

  constructor(options: AgentOptions = {}) {
    this.#options = options;
    this.#warn = quietly(options.onWarning);
  }

  get state(): AgentState {
    const { systemPrompt = "", model, tools = [] } = this.#options.initialState ?? {};
    return {
      systemPrompt,
      model,
      tools,
      messages: [...this.#messages],
      isStreaming: this.#running !== undefined,
      errorMessage: this.#errorMessage,
    };
  }

  /** @returns What ends the subscription. */
  subscribe(listener: AgentListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Runs one task; resolves when everything has been heard. How a run ended is in `state.errorMessage` and in its messages.
   *
   * @param input - A text, or user messages (`userText`, `userImage`).
   * @throws {RookeryError} `session-busy` while another runs, `agent-closed` after `dispose`, and what stands in the way of a
   *   session (`createSession`).
   */
  prompt(input: string | readonly OmniMessage[]): Promise<void> {
    const refusal = this.#refusal();
    if (refusal) return Promise.reject(refusal);
    const stop = new AbortController();
    const run = this.#run(messagesOf(input), stop.signal).finally(() => {
      this.#running = undefined;
    });
    this.#running = { stop, ended: run.catch(() => undefined) };
    return run;
  }

  /** Says something that the next request brings; while nothing runs it waits for the next prompt. */
  steer(input: string | readonly OmniMessage[]): void {
    this.#said.steer(messagesOf(input));
  }

  /** As `steer`, but it waits until the task would end. */
  followUp(input: string | readonly OmniMessage[]): void {
    this.#said.followUp(messagesOf(input));
  }

  /** Interrupts the run, if there is one. What was said and not delivered waits for the next prompt. */
  abort(): void {
    this.#running?.stop.abort();
  }

  async waitForIdle(): Promise<void> {
    await this.#running?.ended;
  }

  /** Interrupts the run and ends every process; may be called twice. */
  async dispose(): Promise<void> {
    this.#isDisposed = true;
    this.abort();
    await this.waitForIdle();
    const opened = await this.#opened?.catch(() => undefined);
    await opened?.agent.dispose();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.dispose();
  }

  #refusal(): RookeryError | undefined {
    if (this.#isDisposed) {
      return new RookeryError("agent-closed", "the agent has been disposed of", { hint: "create it again" });
    }
    if (!this.#running) return undefined;
    return new RookeryError("session-busy", "the agent is already running", { hint: "await waitForIdle() first" });
  }

  async #run(input: readonly OmniMessage[], signal: AbortSignal): Promise<void> {
    const { session } = await this.#open();
    const { approve = async () => "allow" as const, steeringMode, followUpMode } = this.#options;
    const modes = { steering: steeringMode ?? "one-at-a-time", followUps: followUpMode ?? "one-at-a-time" } as const;
    const view = new AgentEventView(input);
    const run = session.run(input, { approve, signal, ...modes });
    const first = run.next();
    this.#said.begin(session);
    // Misuse is thrown here, before anything is heard.
    let step = await first.catch((error: unknown) => {
      this.#said.end();
      throw error;
    });
    await this.#tell(view.begin(), signal);
    for (; !step.done; step = await run.next()) await this.#tell(view.push(step.value), signal);
    const { status, message, undelivered } = step.value;
    this.#said.end(undelivered);
    this.#errorMessage = status === "completed" ? undefined : (message ?? status);
    await this.#tell(view.end(), signal);
  }

  /** Opens the session once; what failed is tried again by the next prompt. */
  #open(): Promise<OpenedSession> {
    this.#opened ??= openSession(this.#options).catch((error: unknown) => {
      this.#opened = undefined;
      throw error;
    });
    return this.#opened;
  }

  async #tell(events: readonly AgentEvent[], signal: AbortSignal): Promise<void> {
    for (const event of events) {
      if (event.type === "message_end") this.#messages.push(event.message);
      for (const listener of this.#listeners) {
        try {
          await listener(event, signal);
        } catch (error) {
          this.#warn({ code: "listener-failed", message: `a listener failed at ${event.type}: ${errorText(error)}` });
        }
      }
    }
  }
}

function messagesOf(input: string | readonly OmniMessage[]): readonly OmniMessage[] {
  return typeof input === "string" ? [userText(input)] : input;
}
