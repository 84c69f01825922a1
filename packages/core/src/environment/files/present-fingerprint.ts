import { fingerprintOf } from "./content-hash.ts";
import { openIfPresent } from "./open-regular-file.ts";

/** The fingerprint of the file that is there now; `null` for none. @throws As `openIfPresent`. */
export async function presentFingerprint(realPath: string): Promise<string | null> {
  const file = await openIfPresent(realPath);
  if (file === undefined) return null;
  try {
    return await fingerprintOf(file);
  } finally {
    file.close();
  }
}
