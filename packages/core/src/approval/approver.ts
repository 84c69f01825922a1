import { errorText } from "../errors/error-text.ts";
import type { ApprovalAnswer, ApprovalContext, ApprovalDecision, ApprovalMode, ApproveFn } from "./contract.ts";
import { lastingRules } from "./lasting-rules.ts";
import { allowingRules, denyingRule } from "./match-rules.ts";
import { type ApprovalRule, ruleText } from "./rule.ts";

/**
 * Puts a call to a person.
 *
 * @param lasting - The rules that the answer `always` stores; absent where there are none for this call.
 * @param settled - Fires when the question has become moot, since a lasting answer to another one settled it too.
 */
export type AskFn = (
  toolCall: Parameters<ApproveFn>[0],
  context: ApprovalContext,
  question: { readonly lasting?: readonly ApprovalRule[]; readonly settled: AbortSignal },
) => Promise<ApprovalDecision | ApprovalAnswer | "always">;

export interface ApproverOptions {
  readonly mode: ApprovalMode;
  /** Those that hold from the start; one that denies goes before those that allow. */
  readonly rules?: readonly ApprovalRule[];
  /** Absent: what mode and rules leave to a person is denied, decided by `default`. A throw is a denial. */
  readonly ask?: AskFn;
  /** Stores the rules of a lasting answer, and says itself where that fails; for this approver they hold anyway. */
  readonly remember?: (rules: readonly ApprovalRule[]) => Promise<void>;
}

/**
 * Makes the `ApproveFn` of one approval mode, the way terminal and server decide (PT-173 to PT-177, PC-109): `deny-all`
 * denies; then rules; then the mode; then a person.
 *
 * A call marked `error` is allowed without asking anyone, since it does not run and the model has to read why; only
 * `deny-all` denies it too. A lasting answer also settles the open questions that its rules cover.
 */
export function approver({ mode, rules = [], ask, remember }: ApproverOptions): ApproveFn {
  const person = ask && new Person(rules, ask, remember);
  return async (toolCall, context) => {
    if (mode === "deny-all") {
      return { decision: "deny", decidedBy: "mode", reason: "the mode deny-all denies every call" };
    }
    if (context.error !== undefined) return { decision: "allow", decidedBy: "mode" };
    const ruled = ruleAnswer(person?.rules ?? rules, toolCall.payload.name, context);
    if (ruled) return ruled;
    const isAllowed = mode === "allow-all" || (mode === "read-only" && context.permission === "r");
    if (isAllowed) return { decision: "allow", decidedBy: "mode" };
    if (person === undefined) return { decision: "deny", decidedBy: "default", reason: "nobody can answer" };
    return person.decide(toolCall, context);
  };
}

interface OpenQuestion {
  readonly tool: string;
  readonly context: ApprovalContext;
  settle(answer: ApprovalAnswer): void;
}

/** Who is asked, and what was answered for good. */
class Person {
  readonly rules: ApprovalRule[];
  readonly #ask: AskFn;
  readonly #remember: ApproverOptions["remember"];
  readonly #open = new Set<OpenQuestion>();

  constructor(rules: readonly ApprovalRule[], ask: AskFn, remember: ApproverOptions["remember"]) {
    this.rules = [...rules];
    this.#ask = ask;
    this.#remember = remember;
  }

  decide(toolCall: Parameters<ApproveFn>[0], context: ApprovalContext): Promise<ApprovalDecision | ApprovalAnswer> {
    const tool = toolCall.payload.name;
    const lasting = lastingRules(tool, context);
    const settled = new AbortController();
    return new Promise((resolve) => {
      const question: OpenQuestion = {
        tool,
        context,
        settle: (answer) => {
          resolve(answer);
          settled.abort();
        },
      };
      this.#open.add(question);
      Promise.resolve()
        .then(() => this.#ask(toolCall, context, { ...(lasting && { lasting }), settled: settled.signal }))
        .then((answer) => (answer === "always" ? this.#answerForGood(question, lasting ?? []) : answer))
        .catch((error: unknown) => failedQuestion(error))
        .then(resolve)
        .finally(() => this.#open.delete(question));
    });
  }

  async #answerForGood(question: OpenQuestion, lasting: readonly ApprovalRule[]): Promise<ApprovalAnswer> {
    this.#open.delete(question);
    this.rules.push(...lasting);
    for (const other of this.#open) {
      const answer = ruleAnswer(this.rules, other.tool, other.context);
      if (answer) other.settle(answer);
    }
    if (lasting.length > 0) await this.#remember?.(lasting).catch(() => undefined);
    return { decision: "allow", decidedBy: "user" };
  }
}

function failedQuestion(error: unknown): ApprovalAnswer {
  return { decision: "deny", decidedBy: "default", reason: `the question failed: ${errorText(error)}` };
}

function ruleAnswer(
  rules: readonly ApprovalRule[],
  tool: string,
  context: ApprovalContext,
): ApprovalAnswer | undefined {
  const call = { tool, ...context };
  const denying = denyingRule(rules, call);
  if (denying) return { decision: "deny", decidedBy: "rule", reason: ruleText(denying) };
  const allowing = allowingRules(rules, call);
  return allowing && { decision: "allow", decidedBy: "rule", reason: allowing.map(ruleText).join("; ") };
}
