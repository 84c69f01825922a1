import { textArgument } from "./file-arguments.ts";
import { assessedPath } from "./locate-file.ts";
import { presentFingerprint } from "./present-fingerprint.ts";
import { checkUnchanged } from "./stale-check.ts";

/** The content a call is shown against when it is assessed: what a tool's `assessState` answers. */
interface SeenState {
  /** `null` when there was no file. */
  readonly fingerprint: string | null;
}

/** @param name - The argument that is the path. @returns `undefined` for what cannot be read now; the call itself says why. */
export async function seenState(
  args: Readonly<Record<string, unknown>>,
  name: string,
  context: Parameters<typeof assessedPath>[1],
): Promise<SeenState | undefined> {
  try {
    return { fingerprint: await presentFingerprint(await assessedPath(textArgument(args, name), context)) };
  } catch {
    return undefined;
  }
}

/**
 * Refuses a write over a content that nobody meant.
 *
 * @param state - What `seenState` answered; anything else is none.
 * @param lastSeen - What the session last saw; absent: nothing.
 * @param now - The fingerprint of what is there; `null` for no file.
 * @throws {FileProblem} The content is not the one that was shown, or is there and not the one last seen.
 */
export function checkSeen(state: unknown, lastSeen: string | undefined, now: string | null): void {
  if (isSeen(state)) checkUnchanged("the write was shown for approval", state.fingerprint, now);
  if (now !== null) checkUnchanged("this session last saw it", lastSeen ?? now, now);
}

function isSeen(state: unknown): state is SeenState {
  return typeof state === "object" && state !== null && "fingerprint" in state;
}
