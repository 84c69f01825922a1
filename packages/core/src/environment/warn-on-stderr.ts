import type { OnWarning } from "./contract.ts";

/** What a warning becomes when nobody asked for it: one line on standard error. */
export const warnOnStderr: OnWarning = ({ code, message }) => {
  process.stderr.write(`rookery: ${message} (${code})\n`);
};
