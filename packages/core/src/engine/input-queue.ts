import { userText } from "../omnimessage/build.ts";
import { isType } from "../omnimessage/guards.ts";
import type { OmniMessage } from "../omnimessage/message.ts";
import { tagged } from "./transcript.ts";

/** How much of a queue is delivered at once. */
export type DeliveryMode = "all" | "one-at-a-time";

type Input = readonly OmniMessage[];

/** What was said to a run and has not reached the model: the very lists that were given, in their order. */
export interface UndeliveredInput {
  readonly steering: readonly Input[];
  readonly followUps: readonly Input[];
}

/**
 * What is said to a run while it goes on. Steering is delivered with the next request, follow-ups when the task would
 * otherwise end; steering goes first. Nothing of either is lost: what was not delivered comes back when the run ends.
 */
export class InputQueue {
  readonly #modes: { readonly steering: DeliveryMode; readonly followUps: DeliveryMode };
  #steering: Input[] = [];
  #followUps: Input[] = [];
  #isClosed = false;
  /** Follow-ups wait although a task would end, since another one comes behind it. */
  holdsFollowUps = false;

  /** Default of both modes: `all`. */
  constructor(
    modes: { readonly steering?: DeliveryMode | undefined; readonly followUps?: DeliveryMode | undefined } = {},
  ) {
    this.#modes = { steering: modes.steering ?? "all", followUps: modes.followUps ?? "all" };
  }

  /** False when the run takes nothing any more. */
  steer(input: Input): boolean {
    if (!this.#isClosed && input.length > 0) this.#steering.push(input);
    return !this.#isClosed;
  }

  /** As `steer`. */
  followUp(input: Input): boolean {
    if (!this.#isClosed && input.length > 0) this.#followUps.push(input);
    return !this.#isClosed;
  }

  /** Takes back what was given, the same list; false when it has been delivered, or never was there. */
  withdraw(input: Input): boolean {
    const before = this.#steering.length + this.#followUps.length;
    this.#steering = this.#steering.filter((one) => one !== input);
    this.#followUps = this.#followUps.filter((one) => one !== input);
    return this.#steering.length + this.#followUps.length < before;
  }

  /** Something waits that goes on with a task which has nothing else to do. */
  get goesOn(): boolean {
    return this.#steering.length > 0 || (!this.holdsFollowUps && this.#followUps.length > 0);
  }

  /** The steering for the next request. */
  takeSteering(): OmniMessage[] {
    return take(this.#steering, this.#modes.steering).flatMap(steeringMessages);
  }

  /** What goes on with a task that has nothing else to do; empty when nothing waits. */
  takeContinuation(): OmniMessage[] {
    if (this.#steering.length > 0 || this.holdsFollowUps) return this.takeSteering();
    return take(this.#followUps, this.#modes.followUps).flat();
  }

  /** Takes nothing from now on. @returns What was not delivered; absent: nothing was. */
  close(): UndeliveredInput | undefined {
    this.#isClosed = true;
    if (this.#steering.length + this.#followUps.length === 0) return undefined;
    return { steering: this.#steering.splice(0), followUps: this.#followUps.splice(0) };
  }
}

function take(queue: Input[], mode: DeliveryMode): Input[] {
  return queue.splice(0, mode === "all" ? queue.length : 1);
}

/** Its text in one block, so that the model tells it from the task; images and data behind it. */
function steeringMessages(input: Input): OmniMessage[] {
  const texts = input.flatMap((message) => (isType(message, "text") ? message.payload.text : []));
  const rest = input.filter((message) => !isType(message, "text"));
  return [userText(tagged("user_steering", texts.join("\n"))), ...rest];
}
