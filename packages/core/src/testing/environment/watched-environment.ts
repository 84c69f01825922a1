import type { CallAssessment } from "../../approval/contract.ts";
import type { EnvironmentInterface } from "../../environment/contract.ts";
import { errorText } from "../../errors/error-text.ts";
import { modelMessage } from "../../omnimessage/build.ts";
import { isType } from "../../omnimessage/guards.ts";
import type { OmniMessage, StopReason, ToolCallPayload, ToolDefinition } from "../../omnimessage/message.ts";
import { isRecord } from "../../omnimessage/shape.ts";
import { callViolations } from "./call-violations.ts";
import { described, quoted, type WrittenCall } from "./sample-calls.ts";

/** How a call is made. */
interface CallManner {
  readonly signal?: AbortSignal;
  /** Default: one that no other call of this environment has. */
  readonly id?: string;
  /** After each message; what answers `"leave"` stops reading. */
  readonly onMessage?: () => unknown;
}

/** An answer did not come in time, which was reported; what else is asked would wait as long. */
export class OutOfPatience extends Error {}

/**
 * An environment under test: asks as the engine does and reports whatever the contract forbids. Its methods reject with
 * `OutOfPatience` alone.
 */
export class WatchedEnvironment {
  readonly #environment: EnvironmentInterface;
  readonly #report: (breach: string) => void;
  readonly #timeoutMs: number;
  #calls = 0;

  constructor(environment: EnvironmentInterface, report: (breach: string) => void, timeoutMs: number) {
    this.#environment = environment;
    this.#report = report;
    this.#timeoutMs = timeoutMs;
  }

  async listTools(): Promise<readonly ToolDefinition[]> {
    const answer = await this.#attempt("listTools()", () => this.#environment.listTools());
    if (answer === undefined) return [];
    if (Array.isArray(answer.value) && answer.value.every(isDefinition)) return answer.value;
    this.#report("listTools() does not resolve to definitions with a name, a description and parameters");
    return [];
  }

  async checkPermission(name: string, allowed: readonly unknown[]): Promise<void> {
    const what = `toolPermission(${quoted(name)})`;
    // In an object, so that a promise, which the contract does not allow, is not resolved.
    const answer = await this.#attempt(what, () => ({ permission: this.#environment.toolPermission(name) }));
    if (answer === undefined || allowed.includes(answer.value.permission)) return;
    this.#report(`${what} is ${quoted(answer.value.permission)}, and not ${allowed.map(quoted).join(" or ")}`);
  }

  /** @returns What the environment would do; absent where it does not say. */
  async assess(call: WrittenCall): Promise<CallAssessment | undefined> {
    if (this.#environment.assessCall === undefined) return undefined;
    const what = `assessCall of ${described(call)}`;
    const answer = await this.#attempt(what, () => this.#environment.assessCall?.(this.#toolCall(call)));
    if (answer === undefined) return undefined;
    const { value } = answer;
    if (isAssessment(value)) return value;
    this.#report(`${what} does not resolve to { risk, summary, executionMode }`);
    return undefined;
  }

  /** Makes one call and checks all that is said of it. @returns How it ended; absent where nothing says so, or nobody read on. */
  async run(call: WrittenCall, manner: CallManner = {}): Promise<StopReason | undefined> {
    const assessment = await this.assess(call);
    const toolCall = this.#toolCall(call, manner.id);
    const { signal } = manner;
    const what = `executeTool of ${described(call)}`;
    const begun = await this.#attempt(what, () => ({
      stream: this.#environment.executeTool({ toolCall, ...(signal && { signal }), ...(assessment && { assessment }) }),
    }));
    if (begun === undefined) return undefined;
    const { stream } = begun.value;
    if (typeof stream?.next !== "function") {
      this.#report(`${what} does not return an async generator`);
      return undefined;
    }
    const messages = await this.#read(what, stream, manner.onMessage);
    if (messages === undefined) return undefined;
    for (const violation of callViolations(toolCall, messages)) this.#report(`${what}: ${violation}`);
    return messages.find((message) => isType(message, "tool_call_output"))?.payload.stop_reason ?? "completed";
  }

  async dispose(): Promise<void> {
    await this.#attempt("dispose()", () => this.#environment.dispose?.());
  }

  /** @returns All that was said; `undefined` when it did not come to its end. */
  async #read(
    what: string,
    stream: AsyncGenerator<OmniMessage>,
    onMessage: () => unknown = () => undefined,
  ): Promise<readonly OmniMessage[] | undefined> {
    const messages: OmniMessage[] = [];
    const deadlineMs = performance.now() + this.#timeoutMs;
    for (;;) {
      const step = await this.#attempt(what, () => stream.next());
      if (step === undefined) return undefined;
      if (!isRecord(step.value)) {
        this.#report(`${what} does not return an async generator`);
        return undefined;
      }
      if (step.value.done) return messages;
      messages.push(step.value.value);
      const isLate = performance.now() > deadlineMs;
      if (isLate) this.#report(`${what} goes on for more than ${this.#timeoutMs} ms`);
      if (!isLate && onMessage() !== "leave") continue;
      await this.#attempt(`return() in ${what}`, () => stream.return(undefined));
      if (isLate) throw new OutOfPatience();
      return undefined;
    }
  }

  #toolCall({ name, text }: WrittenCall, id?: string): OmniMessage<ToolCallPayload> {
    const tool_call_id = id ?? `call_${++this.#calls}`;
    return modelMessage({ type: "tool_call", role: "assistant", name, arguments: text, tool_call_id });
  }

  /** @returns What came back; `undefined` when the environment threw or rejected, which is reported. */
  async #attempt<T>(what: string, work: () => T | PromiseLike<T>): Promise<{ readonly value: T } | undefined> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<undefined>((resolve) => {
      timer = setTimeout(() => resolve(undefined), this.#timeoutMs);
    });
    try {
      const answer = await Promise.race([
        Promise.resolve()
          .then(work)
          .then((value) => ({ value })),
        late,
      ]);
      if (answer !== undefined) return answer;
      this.#report(`${what} gives no answer within ${this.#timeoutMs} ms`);
      throw new OutOfPatience();
    } catch (error) {
      if (error instanceof OutOfPatience) throw error;
      this.#report(`${what} throws: ${errorText(error)}`);
      return undefined;
    } finally {
      clearTimeout(timer);
    }
  }
}

function isDefinition(value: unknown): value is ToolDefinition {
  if (!isRecord(value)) return false;
  return typeof value.name === "string" && typeof value.description === "string" && isRecord(value.parameters);
}

function isAssessment(value: unknown): value is CallAssessment {
  if (!isRecord(value)) return false;
  const { risk, summary, executionMode } = value;
  return RISKS.includes(risk) && typeof summary === "string" && MODES.includes(executionMode);
}

const RISKS: readonly unknown[] = ["read_only", "filesystem", "process", "delegate"];
const MODES: readonly unknown[] = ["parallel", "sequential"];
