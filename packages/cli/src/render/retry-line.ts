import { type EventPayload, isType, MAX_RECONNECTS, type OmniMessage } from "@rookery/core";
import type { Io } from "../io.ts";
import { shortened } from "./heading.ts";
import { oneLine } from "./neutralise.ts";

/** One line about an attempt at a request that failed and will be repeated; absent for any other message. */
export function retryLine(message: OmniMessage, io: Pick<Io, "stdin" | "stderr">): string | undefined {
  if (!announcesRetry(message)) return undefined;
  const { status, error_message: why = status, attempt = 1, retry_in_ms: waitMs = 0 } = message.payload;
  const when = waitMs === 0 ? "now" : `in ${Math.ceil(waitMs / 1000)} s`;
  const which = `attempt ${attempt + 1} of ${MAX_RECONNECTS + 1}`;
  const keys = canPressKeys(io) ? " — press Enter to try now, Ctrl-C to give up" : "";
  return `↻ retrying ${when} (${which}): ${shortened(oneLine(why), MAX_WORDS_CHARACTERS)}${keys}`;
}

/** Whether a message says that there will be another attempt at the request that ended with it. */
export function announcesRetry(message: OmniMessage): message is OmniMessage<EventPayload<"request_end">> {
  return isType(message, "request_end") && message.payload.retry_in_ms !== undefined && message.origin === undefined;
}

/** Whether somebody sits at a terminal, sees what is said there, and can answer. */
export function canPressKeys({ stdin, stderr }: Pick<Io, "stdin" | "stderr">): boolean {
  return stdin.isTTY === true && stderr.isTTY === true;
}

const MAX_WORDS_CHARACTERS = 300;
