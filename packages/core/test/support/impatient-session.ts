import { isType } from "../../src/omnimessage/guards.ts";
import type { Session } from "../../src/session/session.ts";

/** The session, with every wait between attempts skipped as soon as it is announced. */
export function impatient(session: Session): Pick<Session, "run" | "traceFile"> {
  const run: Session["run"] = async function* (messages, options) {
    const inner = session.run(messages, options);
    for (let step = await inner.next(); ; step = await inner.next()) {
      if (step.done) return step.value;
      yield step.value;
      if (isType(step.value, "request_end") && step.value.payload.retry_in_ms !== undefined) {
        while (!session.skipReconnectWait()) await new Promise((resolve) => setImmediate(resolve));
      }
    }
  };
  return { run, traceFile: session.traceFile };
}
