import { mkdir, rmdir } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * Creates the missing parent directories of a path.
 *
 * @returns What takes them away again, as far as they are still empty.
 */
export async function createParents(path: string): Promise<() => Promise<void>> {
  const deepest = dirname(path);
  const first = await mkdir(deepest, { recursive: true });
  return async () => {
    if (first === undefined) return;
    for (let directory = deepest; directory.length >= first.length; directory = dirname(directory)) {
      try {
        await rmdir(directory);
      } catch {
        return;
      }
    }
  };
}
