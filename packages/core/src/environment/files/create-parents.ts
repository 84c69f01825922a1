import { rmdir } from "node:fs/promises";
import { dirname } from "node:path";
import { makeDirectories } from "../../trace/make-directories.ts";

/**
 * Creates the missing parent directories of a path.
 *
 * @returns What takes them away again, as far as they are still empty.
 */
export function createParents(path: string): () => Promise<void> {
  const made = makeDirectories(dirname(path));
  return async () => {
    try {
      for (const directory of made.toReversed()) await rmdir(directory);
    } catch {
      // Something was put there meanwhile.
    }
  };
}
