import { statSync } from "node:fs";

/** The path, unless others lead to the same file: replacing a file gives it another inode, but only by one path. */
export function identityOf(realPath: string): string {
  try {
    const { nlink, dev, ino } = statSync(realPath);
    return nlink > 1 ? `${dev}:${ino}` : realPath;
  } catch {
    return realPath;
  }
}
