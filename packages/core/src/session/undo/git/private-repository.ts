import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sha256 } from "../../../environment/files/content-hash.ts";
import { findExecutable } from "../../../environment/process/find-executable.ts";
import { ensurePrivateDirectory } from "../../../trace/private-files.ts";
import type { WorkTree } from "./work-tree.ts";

/** Why git could not do something; `timeout` when it took too long. */
export class GitProblem extends Error {
  readonly isTimeout: boolean;

  constructor(message: string, isTimeout = false) {
    super(message);
    this.isTimeout = isTimeout;
  }
}

/**
 * A repository of our own over somebody's work tree: its index and its objects are ours, the objects of theirs are read
 * only. Of their repository nothing is read but the name of its hash, the list of tracked files, what it excludes and objects
 * by their hash; so no hook, filter, fsmonitor or included configuration of theirs has a say, and no configuration of the
 * person or the machine.
 */
export class PrivateRepository {
  readonly gitDir: string;
  readonly #env: NodeJS.ProcessEnv;

  /** @param gitDir - Created at the first use. */
  constructor(gitDir: string, env: NodeJS.ProcessEnv) {
    this.gitDir = gitDir;
    this.#env = env;
  }

  /** Makes it ready for a work tree. @throws What the file system reports. */
  prepare(tree: WorkTree): void {
    const info = join(this.gitDir, "info");
    for (const name of ["refs", "info", "objects/info"]) ensurePrivateDirectory(join(this.gitDir, name));
    const write = (file: string, text: string): void => writeFileSync(file, text, { mode: 0o600 });
    write(join(this.gitDir, "HEAD"), "ref: refs/heads/none\n");
    write(join(this.gitDir, "config"), CONFIG);
    write(join(info, "attributes"), ATTRIBUTES);
    write(join(info, "exclude"), excludesOf(tree));
    const alternates = join(this.gitDir, "objects", "info", "alternates");
    const known = existsSync(alternates) ? readFileSync(alternates, "utf8") : "";
    if (tree.objectsDir !== undefined && !known.split("\n").includes(tree.objectsDir)) {
      write(alternates, `${known}${tree.objectsDir}\n`);
    }
    // Of a git that was ended; the lock of the session says that nobody else is at work here.
    rmSync(`${this.#indexFile(tree.root)}.lock`, { force: true });
  }

  /**
   * Runs git in the work tree.
   *
   * @param options.indexFile - Default: ours.
   * @param options.input - Its standard input.
   * @throws {GitProblem} It is not there, fails, or the signal fired.
   */
  async run(
    root: string,
    args: readonly string[],
    options: { readonly input?: string; readonly indexFile?: string; readonly signal?: AbortSignal } = {},
  ): Promise<Buffer> {
    const child = this.start(root, args, options);
    const output: Buffer[] = [];
    let complaint = "";
    child.stdout.on("data", (chunk: Buffer) => output.push(chunk));
    child.stderr.on("data", (chunk: Buffer) => {
      complaint = (complaint + chunk.toString()).slice(0, MAX_COMPLAINT_CHARS);
    });
    child.stdin.end(options.input ?? "");
    try {
      const [code] = (await once(child, "close")) as [number | null];
      if (code === 0) return Buffer.concat(output);
    } catch (error) {
      if (options.signal?.aborted) throw new GitProblem("git took too long", true);
      throw new GitProblem(`git could not be started: ${(error as Error).message}`);
    }
    throw new GitProblem(`git ${args[0]} failed: ${complaint.trim().split("\n")[0]}`);
  }

  /** Starts git in the work tree. @throws {GitProblem} It is not there. */
  start(
    root: string,
    args: readonly string[],
    options: { readonly indexFile?: string; readonly signal?: AbortSignal } = {},
  ): ChildProcessWithoutNullStreams {
    const file = findExecutable("git", this.#env.PATH);
    if (file === undefined) throw new GitProblem("git is not installed");
    const child = spawn(file, args, {
      cwd: root,
      env: this.#gitEnvironment(root, options.indexFile),
      killSignal: "SIGKILL",
      ...(options.signal && { signal: options.signal }),
    });
    child.stdin.on("error", () => undefined);
    return child;
  }

  /** The next state is recorded from nothing. */
  forgetIndex(root: string): void {
    rmSync(this.#indexFile(root), { force: true });
  }

  #indexFile(root: string): string {
    return join(this.gitDir, `index-${sha256(Buffer.from(root)).slice(0, 16)}`);
  }

  #gitEnvironment(root: string, indexFile = this.#indexFile(root)): NodeJS.ProcessEnv {
    const { HOME, XDG_CONFIG_HOME } = this.#env;
    return {
      // Where the person's own excludes lie.
      ...(HOME !== undefined && { HOME }),
      ...(XDG_CONFIG_HOME !== undefined && { XDG_CONFIG_HOME }),
      PATH: this.#env.PATH,
      LC_ALL: "C",
      GIT_DIR: this.gitDir,
      GIT_WORK_TREE: root,
      GIT_INDEX_FILE: indexFile,
      GIT_CONFIG_NOSYSTEM: "1",
      GIT_CONFIG_SYSTEM: "/dev/null",
      GIT_CONFIG_GLOBAL: "/dev/null",
      GIT_ATTR_NOSYSTEM: "1",
      GIT_OPTIONAL_LOCKS: "0",
      GIT_TERMINAL_PROMPT: "0",
      GIT_NO_REPLACE_OBJECTS: "1",
    };
  }
}

const MAX_COMPLAINT_CHARS = 500;

const CONFIG = `[core]
\trepositoryformatversion = 0
\tbare = false
\tfilemode = true
\tsymlinks = true
\tignorecase = false
\tautocrlf = false
\tsafecrlf = false
\thooksPath = /dev/null
\tfsmonitor = false
\tuntrackedCache = false
\tsplitIndex = false
\tattributesFile = /dev/null
\tlooseCompression = 1
\tfsync = none
[gc]
\tauto = 0
[maintenance]
\tauto = false
`;

/** Stronger than every `.gitattributes`: contents are kept as they are, byte for byte. */
const ATTRIBUTES = "* -text -crlf -eol -ident -filter -working-tree-encoding\n";

const MAX_EXCLUDE_BYTES = 1024 * 1024;

function excludesOf({ excludeFile }: WorkTree): string {
  const stats = statSync(excludeFile, { throwIfNoEntry: false });
  return stats?.isFile() && stats.size <= MAX_EXCLUDE_BYTES ? readFileSync(excludeFile, "utf8") : "";
}
