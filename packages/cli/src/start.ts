import { processIo } from "./io.ts";
import { reportError } from "./report-error.ts";
import { rookery } from "./rookery.ts";

/** Runs the program on this process and ends it, whatever open sockets would still keep it alive. */
export async function start(): Promise<never> {
  const io = processIo();
  process.on("uncaughtException", (error) => process.exit(reportError(error, io)));
  return process.exit(await rookery(process.argv.slice(2), io));
}
