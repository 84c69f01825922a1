import type { Stats } from "node:fs";
import { type ListedFiles, listFiles, pathsIn } from "./list-files.ts";
import { GitProblem, type PrivateRepository } from "./private-repository.ts";
import type { WorkTree } from "./work-tree.ts";

/** The state of a work tree: a tree object, and what such an object does not hold. */
export interface Snapshot {
  readonly tree: string;
  readonly modes: Readonly<Record<string, number>>;
  readonly leftOut: readonly string[];
  readonly ignored: readonly string[];
}

/**
 * Records the state of a work tree in our own index and objects; nothing of the work tree or its repository changes.
 *
 * @throws {GitProblem} Also when the signal fired; the next one goes on from there.
 */
export async function takeSnapshot(
  repository: PrivateRepository,
  tree: WorkTree,
  options: Parameters<typeof listFiles>[2],
): Promise<Snapshot> {
  repository.prepare(tree);
  try {
    return await recordFiles(repository, tree, options);
  } catch (error) {
    if (error instanceof GitProblem && error.isTimeout) throw error;
    // Objects that our index borrows may be gone from their repository: then every file is read again.
    repository.forgetIndex(tree.root);
    return await recordFiles(repository, tree, options);
  }
}

/** So many are on record when they have been read, even if the time is over before all have. */
const FILES_AT_ONCE = 4000;

async function recordFiles(
  repository: PrivateRepository,
  tree: WorkTree,
  options: Parameters<typeof listFiles>[2],
): Promise<Snapshot> {
  const listed = await listFiles(repository, tree, options);
  const update = (args: readonly string[], paths: readonly string[]): Promise<Buffer> =>
    repository.run(tree.root, ["update-index", ...args, "-z", "--stdin"], {
      input: paths.map((path) => `${path}\0`).join(""),
      signal: options.signal,
    });
  if (listed.gone.length > 0) await update(["--force-remove"], listed.gone);
  const paths = [...listed.files.keys()];
  for (let at = 0; at < paths.length; at += FILES_AT_ONCE)
    await update(["--add", "--replace", "--remove"], paths.slice(at, at + FILES_AT_ONCE));
  const written = await repository.run(tree.root, ["write-tree"], { signal: options.signal });
  const { leftOut, ignored } = listed;
  return { tree: written.toString().trim(), modes: unusualModes(listed), leftOut, ignored };
}

/** A file that differs between two trees; a side is absent where the file is. */
export interface TreeChange {
  readonly path: string;
  readonly before?: TreeFile;
  readonly after?: TreeFile;
}

export interface TreeFile {
  readonly oid: string;
  readonly kind: "file" | "executable" | "link";
}

/** @throws {GitProblem} */
export async function compareTrees(
  repository: PrivateRepository,
  before: string,
  after: string,
): Promise<TreeChange[]> {
  if (before === after) return [];
  const args = ["diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", "--no-ext-diff", before, after];
  const words = pathsIn(await repository.run(repository.gitDir, args));
  const changes: TreeChange[] = [];
  for (let at = 0; at + 1 < words.length; at += 2) {
    const [oldMode = "", newMode = "", oldOid = "", newOid = ""] = (words[at] ?? "").slice(1).split(" ");
    const [from, to] = [treeFile(oldMode, oldOid), treeFile(newMode, newOid)];
    changes.push({ path: words[at + 1] ?? "", ...(from && { before: from }), ...(to && { after: to }) });
  }
  return changes;
}

/** The files of a tree by their paths. @throws {GitProblem} */
export async function filesOfTree(repository: PrivateRepository, tree: string): Promise<Map<string, TreeFile>> {
  const entries = pathsIn(await repository.run(repository.gitDir, ["ls-tree", "-r", "-z", "--full-tree", tree]));
  const files = new Map<string, TreeFile>();
  for (const entry of entries) {
    const [mode = "", , oid = ""] = entry.split(/[ \t]/, 3);
    const file = treeFile(mode, oid);
    if (file) files.set(entry.slice(entry.indexOf("\t") + 1), file);
  }
  return files;
}

const KINDS: Readonly<Record<string, TreeFile["kind"]>> = {
  "100644": "file",
  "100755": "executable",
  "120000": "link",
};

function treeFile(mode: string, oid: string): TreeFile | undefined {
  const kind = KINDS[mode];
  return kind && { oid, kind };
}

/** The mode a file of a kind has where nothing else is said. */
export function usualMode(kind: TreeFile["kind"]): number {
  return kind === "executable" ? 0o755 : 0o644;
}

function unusualModes({ files }: ListedFiles): Record<string, number> {
  const modes: [string, number][] = [];
  for (const [path, stats] of files) {
    const mode = stats.mode & 0o7777;
    if (stats.isFile() && mode !== usualMode(kindOf(stats))) modes.push([path, mode]);
  }
  return Object.fromEntries(modes);
}

function kindOf({ mode }: Stats): TreeFile["kind"] {
  return (mode & 0o100) === 0 ? "file" : "executable";
}
