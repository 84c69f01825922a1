import { isType, type OmniMessage } from "@rookery/core";
import type { Io } from "./io.ts";
import { discardTyped } from "./prompt-approval.ts";
import { announcesRetry, canPressKeys } from "./render/retry-line.ts";

/**
 * Lets a person at the terminal end the wait before the next attempt with Enter; absent where nobody sits at one.
 *
 * What was typed before the wait does not count. The terminal stays in its line mode, as for questions.
 *
 * @param skip - Ends the wait.
 * @returns To be told of every message of the run, once it has been shown.
 */
export function retryKey(io: Io, skip: () => void): ((message: OmniMessage) => void) | undefined {
  if (!canPressKeys(io)) return undefined;
  let isWaiting = false;
  const pressed = (typed: unknown): void => {
    if (String(typed).includes("\n")) skip();
  };
  const listen = async (): Promise<void> => {
    await discardTyped(io.stdin);
    if (isWaiting && !io.stdin.readableEnded) io.stdin.on("data", pressed).resume();
  };
  return (message) => {
    if (announcesRetry(message)) {
      isWaiting = true;
      void listen();
    } else if (isWaiting && (isType(message, "request_begin") || isType(message, "abort"))) {
      isWaiting = false;
      io.stdin.off("data", pressed).pause();
    }
  };
}
