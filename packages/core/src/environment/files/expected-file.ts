import { hashFile } from "./content-hash.ts";
import { openIfPresent } from "./open-regular-file.ts";
import { checkExpected } from "./stale-check.ts";

/**
 * Honours an `expected_sha256` argument for the file that is there, whatever its size; without one nothing is read.
 *
 * @throws {FileProblem} something else was expected, or `signal` fired; otherwise as `openIfPresent`.
 */
export async function checkExpectedFile(
  realPath: string,
  expected: string | undefined,
  signal: AbortSignal | undefined,
): Promise<void> {
  if (expected === undefined) return;
  const file = await openIfPresent(realPath);
  try {
    checkExpected(expected, file && (await hashFile(file, signal)).sha256);
  } finally {
    file?.close();
  }
}
