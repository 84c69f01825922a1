import { realpathSync, statSync } from "node:fs";
import { isAbsolute } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { findExecutable, isExecutable } from "../../environment/process/find-executable.ts";

/** A program as it was found, by which it is known again. */
export interface AgentExecutable {
  /** Absolute; what is run, so that a program that goes by the name it was called by gets that. */
  readonly path: string;
  /** With links followed. */
  readonly realPath: string;
  /** Changes when the file is replaced or written to. */
  readonly identity: string;
}

/** Finds a program by its absolute path, or by its name in the directories of `searchPath`. @throws It is not there. */
export function findAgentExecutable(executable: string, searchPath: string | undefined): AgentExecutable {
  const found = isAbsolute(executable) ? executable : findExecutable(executable, searchPath);
  if (found === undefined || !isExecutable(found)) {
    const name = JSON.stringify(executable);
    throw new Error(
      isAbsolute(executable)
        ? `there is no program that may be run at ${name}`
        : `there is no program ${name} in the directories of PATH`,
    );
  }
  const { dev, ino, size, mtimeMs, ctimeMs } = statSync(found);
  return { path: found, realPath: realpathSync.native(found), identity: [dev, ino, size, mtimeMs, ctimeMs].join(":") };
}

/** @param approved - What was found when the call was assessed. @throws It is another one. */
export function sameExecutable(found: AgentExecutable, approved: unknown): AgentExecutable {
  if (isDeepStrictEqual(found, approved)) return found;
  throw new Error(`${found.path} is not the program any more that was shown for approval; call again`);
}
