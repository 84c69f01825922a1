import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { GitProblem, type PrivateRepository } from "./private-repository.ts";

/** Reads contents one after the other, all by one process of git, which lives until `close`. */
export class BlobReader {
  readonly #repository: PrivateRepository;
  #git: RunningGit | undefined;
  #rest: Buffer = Buffer.alloc(0);

  constructor(repository: PrivateRepository) {
    this.#repository = repository;
  }

  /** The content of a blob; absent where it is not to be had any more. One call at a time. */
  async read(oid: string): Promise<Buffer | undefined> {
    try {
      this.#git ??= this.#start();
      this.#git.child.stdin.write(`${oid}\n`);
      const [, type, size] = (await this.#line()).split(" ");
      if (size === undefined) return undefined;
      const content = await this.#take(Number(size) + 1);
      return type === "blob" ? content.subarray(0, -1) : undefined;
    } catch {
      // Of an object that is damaged git may die.
      this.close();
      return undefined;
    }
  }

  close(): void {
    this.#git?.child.kill("SIGKILL");
    this.#git = undefined;
    this.#rest = Buffer.alloc(0);
  }

  #start(): RunningGit {
    const child = this.#repository.start(this.#repository.gitDir, ["cat-file", "--batch"]);
    child.on("error", () => undefined);
    child.stderr.resume();
    return { child, output: child.stdout[Symbol.asyncIterator]() };
  }

  async #line(): Promise<string> {
    for (;;) {
      const end = this.#rest.indexOf("\n");
      if (end >= 0) return (await this.#take(end + 1)).toString().trimEnd();
      this.#rest = Buffer.concat([this.#rest, await this.#chunk()]);
    }
  }

  async #take(length: number): Promise<Buffer> {
    const chunks = [this.#rest];
    for (let missing = length - this.#rest.length; missing > 0; missing -= chunks.at(-1)?.length ?? 0)
      chunks.push(await this.#chunk());
    const all = Buffer.concat(chunks);
    this.#rest = all.subarray(length);
    return all.subarray(0, length);
  }

  async #chunk(): Promise<Buffer> {
    const { value, done } = (await this.#git?.output.next()) ?? { done: true };
    if (done) throw new GitProblem("git has ended");
    return value;
  }
}

interface RunningGit {
  readonly child: ChildProcessWithoutNullStreams;
  readonly output: AsyncIterator<Buffer>;
}
