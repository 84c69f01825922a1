import { basename, relative } from "node:path";

/**
 * How a person calls this program once more from where they are: by its name where it was called by that, else as a file.
 *
 * @param script - What Node runs.
 */
export function programName(script: string | undefined, cwd: string): string {
  if (script === undefined || basename(script) === "rookery") return "rookery";
  const near = relative(cwd, script);
  const path = near.length < script.length ? near : script;
  return `node ${/^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`}`;
}
