import type { UndeliveredInput } from "../engine/input-queue.ts";
import type { OmniMessage } from "../omnimessage/message.ts";
import type { Session } from "../session/session.ts";

type Input = readonly OmniMessage[];

/** What is said to an agent: handed to the run that is under way, or kept for the next one. */
export class WaitingInput {
  #session: Session | undefined;
  #steering: readonly Input[] = [];
  #followUps: readonly Input[] = [];

  steer(input: Input): void {
    if (!this.#session?.steer(input)) this.#steering = [...this.#steering, input];
  }

  followUp(input: Input): void {
    if (!this.#session?.followUp(input)) this.#followUps = [...this.#followUps, input];
  }

  /** A run of this session has begun. */
  begin(session: Session): void {
    const [steering, followUps] = [this.#steering, this.#followUps];
    this.#session = session;
    this.#steering = [];
    this.#followUps = [];
    for (const input of steering) this.steer(input);
    for (const input of followUps) this.followUp(input);
  }

  /** It has ended; what it did not deliver goes before what was said since. */
  end(undelivered: UndeliveredInput = { steering: [], followUps: [] }): void {
    this.#session = undefined;
    this.#steering = [...undelivered.steering, ...this.#steering];
    this.#followUps = [...undelivered.followUps, ...this.#followUps];
  }
}
