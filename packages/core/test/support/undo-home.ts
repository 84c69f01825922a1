import { execFileSync } from "node:child_process";
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, relative } from "node:path";
import type { SessionOptions } from "../../src/agent/agent-options.ts";
import type { LLMInterface } from "../../src/llm/contract.ts";
import { userText } from "../../src/omnimessage/build.ts";
import type { OmniMessage } from "../../src/omnimessage/message.ts";
import type { Session } from "../../src/session/session.ts";
import { collectRun, scriptedLLM, tempAgent } from "../../src/testing/index.ts";

export interface ToolCall {
  readonly name: string;
  readonly args: object;
}

export function write(path: string, content: string): ToolCall {
  return { name: "write_file", args: { file_path: path, content } };
}

export function command(text: string): ToolCall {
  return { name: "exec_command", args: { cmd: text } };
}

/** A session whose tasks are given as the calls they make, and its workspace. */
export class UndoHome {
  readonly #home: Awaited<ReturnType<typeof tempAgent>>;
  readonly #options: SessionOptions;
  readonly warnings: string[] = [];
  readonly agent: Awaited<ReturnType<typeof tempAgent>>["agent"];
  workspaceDir: string;
  #requests: OmniMessage[][] = [];
  #calls: readonly ToolCall[] = [];
  session!: Session;

  constructor(home: Awaited<ReturnType<typeof tempAgent>>, options: SessionOptions) {
    this.#home = home;
    this.agent = home.agent;
    this.workspaceDir = home.workspaceDir;
    this.#options = {
      ...options,
      createLLM: () => this.#model(),
      onWarning: ({ message }) => this.warnings.push(message),
    };
  }

  async open(): Promise<Session> {
    this.session = await this.agent.createSession({ workspaceDir: this.workspaceDir, ...this.#options });
    return this.session;
  }

  async resume(): Promise<Session> {
    this.session = await this.agent.resumeSession(this.session.sessionId, this.#options);
    return this.session;
  }

  /** Runs a task that makes the calls one after the other, and keeps the rules of the protocol. */
  async task(...calls: readonly ToolCall[]): Promise<{ readonly requests: readonly (readonly OmniMessage[])[] }> {
    this.#calls = calls;
    this.#requests = [];
    await collectRun(this.session, [userText("do it")], { approve: async () => "allow" });
    return { requests: this.#requests };
  }

  get undoDir(): string {
    return this.session.traceFile.replace("/traces/", "/undo/").replace(/\/[^/]*$/, "");
  }

  pathOf(path: string): string {
    return join(this.workspaceDir, path);
  }

  write(path: string, text: string, mode?: number): void {
    mkdirSync(dirname(this.pathOf(path)), { recursive: true });
    writeFileSync(this.pathOf(path), text);
    if (mode !== undefined) chmodSync(this.pathOf(path), mode);
  }

  text(path: string): string {
    return readFileSync(this.pathOf(path), "utf8");
  }

  record(): string {
    return readFileSync(this.session.traceFile, "utf8");
  }

  /** Everything in the workspace but git's own: modes with contents, links, directories. */
  tree(directory: string = this.workspaceDir): Record<string, string> {
    const found: Record<string, string> = {};
    for (const name of readdirSync(directory).sort()) {
      if (name === ".git") continue;
      const path = join(directory, name);
      const stats = lstatSync(path);
      const key = relative(this.workspaceDir, path);
      if (stats.isDirectory()) Object.assign(found, { [`${key}/`]: "" }, this.tree(path));
      else if (stats.isSymbolicLink()) found[key] = `-> ${readlinkSync(path)}`;
      else found[key] = `${(stats.mode & 0o777).toString(8)} ${readFileSync(path, "latin1")}`;
    }
    return found;
  }

  /** The same without directories. */
  files(): Record<string, string> {
    return Object.fromEntries(Object.entries(this.tree()).filter(([path]) => !path.endsWith("/")));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#home.dispose();
  }

  /** One reply for each call, since a task writes to a file more than once; then the end. */
  #model(): LLMInterface {
    const ids = { next: 0 };
    const home = this;
    return {
      async *streamGenerate(parameters) {
        home.#requests.push([...parameters.newMessages]);
        const call = home.#calls[home.#requests.length - 1];
        const reply = call ? { calls: [{ ...call, id: `c${process.hrtime.bigint()}${ids.next++}` }] } : "done";
        return yield* scriptedLLM(reply).streamGenerate(parameters);
      },
    };
  }
}

/** @param env - Of the agent; default: where programs are found. */
export async function undoHome(
  options: SessionOptions = {},
  env: NodeJS.ProcessEnv = { PATH: process.env.PATH },
): Promise<UndoHome> {
  const home = new UndoHome(await tempAgent({ env }), options);
  await home.open();
  return home;
}

/** The same in a git work tree with these files committed. */
export async function repository(
  files: Readonly<Record<string, string>>,
  options: SessionOptions = {},
  env?: NodeJS.ProcessEnv,
): Promise<UndoHome> {
  const home = await undoHome(options, env);
  git(home.workspaceDir, "init", "-q");
  for (const [path, text] of Object.entries(files)) home.write(path, text);
  git(home.workspaceDir, "add", "-A");
  git(home.workspaceDir, "-c", "user.name=a", "-c", "user.email=a", "commit", "-qm", "x");
  return home;
}

export function git(cwd: string, ...args: readonly string[]): string {
  const env = { PATH: process.env.PATH, GIT_CONFIG_NOSYSTEM: "1", GIT_CONFIG_GLOBAL: "/dev/null" };
  return execFileSync("git", args, { cwd, env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

/** As if no task had not come to its end. */
export function forgetEnd(home: UndoHome): void {
  const journal = join(home.undoDir, "journal.jsonl");
  const lines = readFileSync(journal, "utf8").split("\n");
  rmSync(journal);
  writeFileSync(journal, lines.filter((line) => !line.includes('"after"')).join("\n"), { mode: 0o600 });
}
