import type { OnWarning } from "./contract.ts";

/** What a warning becomes when nobody asked for it: one line on standard error. */
const warnOnStderr: OnWarning = ({ code, message }) => {
  process.stderr.write(`rookery: ${message} (${code})\n`);
};

/** A listener that never throws into what it is told of. */
export function quietly(onWarning: OnWarning = warnOnStderr): OnWarning {
  return (warning) => {
    try {
      onWarning(warning);
    } catch {
      // There is nobody left to tell.
    }
  };
}
