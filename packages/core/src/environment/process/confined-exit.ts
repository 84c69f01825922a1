import { constants } from "node:os";
import type { ChildExit } from "./child-connection.ts";

/** Signals that end programs, but for those whose codes programs also exit with by themselves (129 is git's usage error). */
const SIGNALS = [
  "SIGINT",
  "SIGQUIT",
  "SIGILL",
  "SIGABRT",
  "SIGBUS",
  "SIGFPE",
  "SIGKILL",
  "SIGSEGV",
  "SIGPIPE",
  "SIGTERM",
] as const;

/**
 * How a confined program ended. What confines it tells of a signal as a shell does, by 128 and its number; a program that exits
 * with such a code itself means the same.
 */
export function confinedExit(exit: ChildExit): ChildExit {
  const signal = SIGNALS.find((name) => exit.exitCode === 128 + constants.signals[name]);
  return signal === undefined ? exit : { exitCode: null, signal };
}
