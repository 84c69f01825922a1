import type { Run, ToolSide } from "../engine/engine.ts";
import { INTERRUPTED, unlessAborted } from "../engine/interruption.ts";
import { isConnectable } from "../environment/connect.ts";
import { errorText } from "../errors/error-text.ts";
import { eventMessage } from "../omnimessage/build.ts";

/**
 * Connects the tool sources that need it, once, and tells of it with the pair of events; says nothing where there are
 * none. What cannot be connected is missing from the tools; an interruption ends the attempt, and the next run tries again.
 */
export async function connectSources({ environment, onWarning }: ToolSide, run: Run): Promise<void> {
  if (!isConnectable(environment) || environment.unconnected.length === 0) return;
  await run.emit(eventMessage({ type: "mcp_connect_begin", servers: environment.unconnected }));
  const results = await unlessAborted(
    environment.connect(run.signal).catch((error: unknown) => {
      onWarning({ code: "connect-failed", message: `the tool sources could not be connected: ${errorText(error)}` });
      return [];
    }),
    run.signal,
  );
  await run.emit(
    eventMessage({
      type: "mcp_connect_end",
      status: results === INTERRUPTED ? "aborted" : "completed",
      results: results === INTERRUPTED ? [] : results,
    }),
  );
}
