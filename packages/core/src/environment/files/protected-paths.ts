import { sep } from "node:path";
import { identityOf } from "./file-identity.ts";
import { resolvePath } from "./resolve-path.ts";

/**
 * True when one of `spellings` of a path (as given, and its real path) is a protected path or lies below one.
 *
 * Compared without case, since the disk may do so too, and before and after the links in protected paths are followed. A
 * hard link of a protected file is protected too.
 *
 * @param protectedPaths - Absolute; they need not exist.
 */
export async function isProtectedPath(
  spellings: readonly string[],
  protectedPaths: readonly string[],
): Promise<boolean> {
  const wanted = spellings.map(fold);
  const identities = spellings.map(identityOf);
  for (const path of protectedPaths) {
    const real = await resolvePath(sep, path).catch(() => path);
    if (identities.includes(identityOf(real))) return true;
    const kept = [fold(path), fold(real)];
    if (wanted.some((spelling) => kept.some((one) => spelling === one || spelling.startsWith(one + sep)))) return true;
  }
  return false;
}

function fold(path: string): string {
  return path.normalize("NFC").toLowerCase();
}
