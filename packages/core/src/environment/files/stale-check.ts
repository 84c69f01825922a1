import { shorten } from "../shorten.ts";
import { FileProblem } from "./file-problem.ts";

const SHA256 = /^[0-9a-f]{64}$/;
const ADVICE = "read the file again and try once more";

/**
 * Honours an `expected_sha256` argument.
 *
 * @param found - The hash of the content that is there; absent when no file is.
 * @throws {FileProblem} something else was expected.
 */
export function checkExpected(expected: string | undefined, found: string | undefined): void {
  const hash = expected?.trim().toLowerCase();
  if (expected === undefined || hash === found) return;
  const given = SHA256.test(hash ?? "") ? hash : `${JSON.stringify(shorten(expected, 70))}, which is no SHA-256`;
  throw new FileProblem(`expected_sha256 is ${given}, but ${present(found)}; ${ADVICE}`);
}

/**
 * Refuses a file whose content, by its fingerprint (`fingerprintOf`), is not the one it was last seen with.
 *
 * @param since - Completes `the file changed since`.
 * @param then - What it was; `null` when there was no file.
 * @throws {FileProblem} `then` and `now` differ; both are named.
 */
export function checkUnchanged(since: string, then: string | null, now: string | null): void {
  if (then === now) return;
  throw new FileProblem(`the file changed since ${since}: ${was(then)}, now ${present(now)}; ${ADVICE}`);
}

function was(fingerprint: string | null): string {
  if (fingerprint === null) return "there was none";
  return SHA256.test(fingerprint) ? `its sha256 was ${fingerprint}` : `it was ${fingerprint}`;
}

function present(fingerprint: string | null | undefined): string {
  return fingerprint ? `it is ${fingerprint}` : "there is no file";
}
