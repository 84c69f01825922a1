import { sep } from "node:path";
import { resolvePath } from "./resolve-path.ts";

/**
 * True when one of `spellings` of a path (as given, and its real path) is a protected path or lies below one.
 *
 * Compared without case, since the disk may do so too, and before and after the links in protected paths are followed.
 *
 * @param protectedPaths - Absolute; they need not exist.
 */
export async function isProtectedPath(
  spellings: readonly string[],
  protectedPaths: readonly string[],
): Promise<boolean> {
  const wanted = spellings.map(fold);
  for (const path of protectedPaths) {
    const real = await resolvePath(sep, path).catch(() => path);
    const kept = [fold(path), fold(real)];
    if (wanted.some((spelling) => kept.some((one) => spelling === one || spelling.startsWith(one + sep)))) return true;
  }
  return false;
}

function fold(path: string): string {
  return path.normalize("NFC").toLowerCase();
}
