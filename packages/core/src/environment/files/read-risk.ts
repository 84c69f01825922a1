import { resolve } from "node:path";
import type { ToolRisk } from "../../omnimessage/message.ts";
import { assessedPath } from "./locate-file.ts";
import { isSecretLikePath } from "./secret-paths.ts";

/** The risk of reading a file: `filesystem` where the path, as given or as it really is, looks like that of a secret. */
export async function readRisk(path: string, context: Parameters<typeof assessedPath>[1]): Promise<ToolRisk> {
  const spellings = [resolve(context.workspaceDir, path), await assessedPath(path, context)];
  return spellings.some(isSecretLikePath) ? "filesystem" : "read_only";
}
