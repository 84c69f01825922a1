import { type WriteReport, writeFileAtomically } from "./atomic-write.ts";
import { createParents } from "./create-parents.ts";

/** `writeFileAtomically`, in a directory that is made where it is missing; one that was made goes again on failure. */
export async function writeWithParents(
  realPath: string,
  content: Buffer,
  write: typeof writeFileAtomically = writeFileAtomically,
): Promise<WriteReport> {
  const removeParents = createParents(realPath);
  try {
    return await write(realPath, content);
  } catch (error) {
    await removeParents();
    throw error;
  }
}
