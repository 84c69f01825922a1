import type { LLMInterface } from "../../src/llm/contract.ts";
import { isCompleteModelMessage } from "../../src/omnimessage/guards.ts";
import type { OmniMessage } from "../../src/omnimessage/message.ts";

/** The same model; `sent` gets what a provider would have by now: committed requests and their replies. */
export function remembering(llm: LLMInterface, sent: OmniMessage[]): LLMInterface {
  return {
    async *streamGenerate(parameters) {
      const reply: OmniMessage[] = [];
      const stream = llm.streamGenerate(parameters);
      for (let step = await stream.next(); ; step = await stream.next()) {
        if (step.done) {
          if (step.value.status === "completed") sent.push(...parameters.newMessages, ...reply);
          return step.value;
        }
        if (isCompleteModelMessage(step.value)) reply.push(step.value);
        yield step.value;
      }
    },
  };
}
