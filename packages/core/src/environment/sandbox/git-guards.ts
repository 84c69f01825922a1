import { lstatSync, mkdirSync, readdirSync, readFileSync, type Stats, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { realPathOf } from "../files/resolve-path.ts";

/** How deep below `.git/modules` repositories are looked for, and how many are guarded. */
const MAX_DEPTH = 6;
const MAX_REPOSITORIES = 256;

/** What in a repository makes git run programs or look elsewhere for its configuration. */
const GUARDED = /(^|\/)\.git\/(.*\/)?(hooks(\/|$)|config(\.worktree)?$|commondir$)/i;

/** Whether a path relative to the workspace is one that nobody in a sandbox may write; any repository below counts. */
export function isGuardedGitPath(relativePath: string): boolean {
  return GUARDED.test(relativePath.replaceAll("\\", "/"));
}

/** Puts an empty one where git would look for hooks or configuration and finds none: only what exists can be mounted. */
export function completeRepository(workspaceDir: string): void {
  const git = join(workspaceDir, ".git");
  if (!lstatSync(git, { throwIfNoEntry: false })?.isDirectory()) return;
  for (const directory of repositoriesOf(git)) put(() => mkdirSync(join(directory, "hooks")));
  putFile(join(git, "config"));
  if (hasWorktreeConfig(git))
    for (const directory of [git, ...worktreesOf(git)]) putFile(join(directory, "config.worktree"));
}

/**
 * What of the workspace's own repository must be mounted read-only, real paths: hooks and configuration, those of its
 * submodules and worktrees too, or the file that stands for `.git` in a worktree. Where a link stands for one of these it is
 * where the link leads, and all of the directory around the link, which could be replaced itself.
 */
export function gitGuards(workspaceDir: string): string[] {
  const git = join(workspaceDir, ".git");
  const found = lstatSync(git, { throwIfNoEntry: false });
  if (found?.isFile()) return [git];
  if (!found?.isDirectory()) return [];
  return [
    ...repositoriesOf(git).flatMap((directory) =>
      ["hooks", "config", "config.worktree"].map((name) => join(directory, name)),
    ),
    ...worktreesOf(git).flatMap((directory) => ["commondir", "config.worktree"].map((name) => join(directory, name))),
  ].flatMap((path) => {
    const there = lstatSync(path, { throwIfNoEntry: false });
    if (there === undefined) return [];
    return there.isSymbolicLink() ? [realPathOf(dirname(path)), realPathOf(path)] : [realPathOf(path)];
  });
}

function repositoriesOf(git: string): string[] {
  return [git, ...modulesOf(join(git, "modules"), MAX_DEPTH).slice(0, MAX_REPOSITORIES)];
}

function worktreesOf(git: string): string[] {
  return directoriesIn(join(git, "worktrees"));
}

/** Whether git reads `config.worktree` too; a text that only mentions the extension counts. */
function hasWorktreeConfig(git: string): boolean {
  try {
    return /worktreeconfig/i.test(readFileSync(join(git, "config"), "utf8"));
  } catch {
    return false;
  }
}

function putFile(path: string): void {
  put(() => writeFileSync(path, "", { flag: "wx" }));
}

function put(make: () => void): void {
  try {
    make();
  } catch {
    // It is there, or nobody of this user can put it there.
  }
}

function modulesOf(directory: string, maxDepth: number): string[] {
  if (maxDepth === 0) return [];
  return directoriesIn(directory).flatMap((path) => {
    if (!isThere(join(path, "HEAD"))) return modulesOf(path, maxDepth - 1);
    return [path, ...modulesOf(join(path, "modules"), maxDepth - 1)];
  });
}

function directoriesIn(directory: string): string[] {
  try {
    const entries = readdirSync(directory, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map((entry) => join(directory, entry.name));
  } catch {
    return [];
  }
}

function isThere(path: string): Stats | undefined {
  return statSync(path, { throwIfNoEntry: false });
}
