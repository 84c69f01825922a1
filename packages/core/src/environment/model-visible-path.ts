/**
 * Spells a path as a model should see it (PT-050, PT-051, PT-053): one spelling that works both as a tool argument and,
 * quoted, in a shell command.
 *
 * @param platform - Windows paths get forward slashes and lose a `\\?\` prefix; any other platform's are unchanged.
 */
export function modelVisiblePath(path: string, platform: NodeJS.Platform = process.platform): string {
  if (platform !== "win32") return path;
  return path
    .replace(/^\\\\\?\\UNC\\/i, "\\\\")
    .replace(/^\\\\\?\\/, "")
    .replaceAll("\\", "/");
}
