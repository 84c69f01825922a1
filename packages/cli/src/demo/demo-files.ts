import { cp, mkdir, readdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { errorText, type OmniMessage, RookeryError, readTraceAt } from "@rookery/core";

// Beside this module, and beside its chunk in the bundle.
const FILES = new URL("./demo-files/", import.meta.url);

/** What the record of a demo's session says it came from. */
export const DEMO_SOURCE = "demo";

/** The recorded session that the demo plays. */
export async function demoRecords(): Promise<OmniMessage[]> {
  const records: OmniMessage[] = [];
  for await (const entry of readTraceAt(fileURLToPath(new URL("session.jsonl", FILES)))) {
    if ("message" in entry) records.push(entry.message);
  }
  return records;
}

/**
 * Puts the project with its fault into a directory that is new or empty.
 *
 * @throws {RookeryError} `workspace-missing` where that cannot be.
 */
export async function unpackProject(directory: string): Promise<void> {
  try {
    await mkdir(directory).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error;
    });
    if ((await readdir(directory)).length > 0) throw new Error("it is not empty");
    await cp(fileURLToPath(new URL("project/", FILES)), directory, { recursive: true, verbatimSymlinks: true });
  } catch (error) {
    throw new RookeryError(
      "workspace-missing",
      `cannot put the demo's project into ${directory}: ${errorText(error)}`,
      {
        hint: "name a new directory where you may write",
        cause: error,
      },
    );
  }
}
