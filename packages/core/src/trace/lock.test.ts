import { spawn, spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { hostname, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { acquireLock } from "./lock.ts";
import { processStart } from "./process-start.ts";

const ID = "session-2026-03-04-05-06-07-01234567";

test("a lock names process, start time and host, and is the owner's alone", () => {
  const path = lockPath();
  acquireLock(path);
  expect(JSON.parse(readFileSync(path, "utf8"))).toMatchObject({ pid: process.pid, host: hostname() });
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(statSync(dirname(path)).mode & 0o777).toBe(0o700);
  expect(readdirSync(dirname(path))).toEqual(["lock"]);
});

test("a second taker is refused with the pid of the first, and in the same process with what to do there", () => {
  const path = lockPath();
  acquireLock(path);
  expect(() => acquireLock(path)).toThrow(
    expect.objectContaining({
      code: "session-locked",
      message: `session ${ID} is open in this process`,
      hint: "go on with the Session that has it open, with its undo() too, or dispose of that first",
    }),
  );
  const parent = { pid: process.ppid, host: hostname(), nonce: "0123456789abcdef" };
  writeFileSync(path, JSON.stringify(parent));
  expect(() => acquireLock(path)).toThrow(
    expect.objectContaining({
      code: "session-locked",
      message: `session ${ID} is in use by process ${process.ppid}`,
      hint: "end that process, or use another session",
    }),
  );
});

test("a released lock can be taken, and releasing twice leaves the next owner's alone", () => {
  const path = lockPath();
  const first = acquireLock(path);
  first.release();
  expect(existsSync(path)).toBe(false);
  const second = acquireLock(path);
  first.release();
  expect(existsSync(path)).toBe(true);
  second.release();
  expect(readdirSync(dirname(path))).toEqual([]);
});

test("releasing does not throw when the session is gone", () => {
  const path = lockPath();
  const lock = acquireLock(path);
  rmSync(dirname(path), { recursive: true });
  writeFileSync(dirname(path), "");
  expect(() => lock.release()).not.toThrow();
});

test("the lock of a process that is gone is taken over", () => {
  const path = lockPath();
  const { pid } = spawnSync(process.execPath, ["-e", "0"]);
  writeLock(path, { pid });
  acquireLock(path);
  expect(JSON.parse(readFileSync(path, "utf8"))).toMatchObject({ pid: process.pid });
  expect(readdirSync(dirname(path))).toEqual(["lock"]);
});

test.skipIf(process.platform !== "linux")(
  "a lock whose pid now belongs to another program is taken over (start times are known on Linux)",
  () => {
    const path = lockPath();
    writeLock(path, { pid: process.pid, started: "1" });
    expect(() => acquireLock(path)).not.toThrow();
  },
);

test("a living process holds its lock where start times are unknown", () => {
  const path = lockPath();
  writeLock(path, { pid: process.pid });
  expect(() => acquireLock(path)).toThrow(expect.objectContaining({ code: "session-locked" }));
});

test("a lock of another host is refused, and the hint names the file", () => {
  const path = lockPath();
  writeLock(path, { pid: 1, host: "elsewhere.invalid" });
  expect(() => acquireLock(path)).toThrow(
    expect.objectContaining({
      code: "session-locked",
      message: `session ${ID} is in use by process 1 on host elsewhere.invalid`,
      hint: `if that process is gone, remove ${path}`,
    }),
  );
});

test.each(["", "\0\0\0", "null", "[]", '{"pid":1}', `{"pid":${process.pid},"host":"${hostname()}","nonce":"../../x"}`])(
  "a lock that holds %j is nobody's",
  (content) => {
    const path = lockPath();
    mkdirSync(dirname(path));
    writeFileSync(path, content);
    acquireLock(path);
    expect(JSON.parse(readFileSync(path, "utf8"))).toMatchObject({ pid: process.pid });
  },
);

test("a lock that is a link to nowhere is nobody's", () => {
  const path = lockPath();
  mkdirSync(dirname(path));
  symlinkSync("nowhere", path);
  acquireLock(path);
  expect(readdirSync(dirname(path))).toEqual(["lock"]);
});

test("a taker that died while it took over does not block the next one", () => {
  const path = lockPath();
  const { pid } = spawnSync(process.execPath, ["-e", "0"]);
  writeLock(path, { pid });
  writeLock(`${path}.${NONCE}`, { pid, nonce: "fedcba9876543210" });
  acquireLock(path);
  expect(readdirSync(dirname(path))).toEqual(["lock"]);
});

test("a place that cannot be written is root-unwritable", () => {
  const path = lockPath();
  writeFileSync(dirname(path), "a file in the place of the directory");
  expect(() => acquireLock(path)).toThrow(
    expect.objectContaining({ code: "root-unwritable", message: expect.stringContaining(path) }),
  );
});

test("of many processes that take over a dead owner's lock at once exactly one gets it", async () => {
  const path = lockPath();
  const { pid } = spawnSync(process.execPath, ["-e", "0"]);
  const takers = Array.from({ length: 4 }, () => startTaker(path));
  await Promise.all(takers.map(({ ready }) => ready));
  for (let round = 0; round < 50; round += 1) {
    writeLock(path, { pid });
    const answers = await Promise.all(takers.map((taker) => taker.ask("take")));
    expect(answers.filter((answer) => answer === "mine")).toHaveLength(1);
    expect(answers.filter((answer) => answer === "session-locked")).toHaveLength(3);
    await Promise.all(takers.map((taker) => taker.ask("release")));
    expect(readdirSync(dirname(path))).toEqual([]);
  }
  for (const taker of takers) taker.end();
});

test("a process that is gone has no start time, and a living one keeps its own", () => {
  const { pid } = spawnSync(process.execPath, ["-e", "0"]);
  expect(processStart(pid)).toBeUndefined();
  expect(processStart(process.pid)).toBe(processStart(process.pid));
});

const NONCE = "0123456789abcdef";

function lockPath(): string {
  const parent = mkdtempSync(join(tmpdir(), "rookery-lock-"));
  onTestFinished(() => rmSync(parent, { recursive: true }));
  return join(parent, ID, "lock");
}

function writeLock(path: string, owner: { pid: number; started?: string; host?: string; nonce?: string }): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, JSON.stringify({ host: hostname(), nonce: NONCE, ...owner }));
}

interface Taker {
  readonly ready: Promise<string>;
  ask(command: "take" | "release"): Promise<string>;
  end(): void;
}

/** Another process that takes and releases on command, and answers each with a line. */
function startTaker(path: string): Taker {
  const flags = ["--conditions=rookery-source", "--import", "tsx", "--input-type=module", "--eval", TAKER];
  const child = spawn(process.execPath, [...flags, path], { stdio: ["pipe", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  let answered: (answer: string) => void = () => undefined;
  const nextAnswer = (): Promise<string> =>
    new Promise((resolve) => {
      answered = resolve;
    });
  child.stdout.on("data", (bytes: Buffer) => answered(bytes.toString().trim()));
  return {
    ready: nextAnswer(),
    ask: (command) => {
      const answer = nextAnswer();
      child.stdin.write(`${command}\n`);
      return answer;
    },
    end: () => child.stdin.end(),
  };
}

const TAKER = `
  import { createInterface } from "node:readline";
  const { acquireLock } = await import(${JSON.stringify(new URL("lock.ts", import.meta.url).href)});
  let lock;
  console.log("ready");
  for await (const command of createInterface({ input: process.stdin })) {
    try {
      if (command === "take") lock = acquireLock(process.argv[1]);
      else lock = lock?.release();
      console.log(lock ? "mine" : "free");
    } catch (error) {
      console.log(error.code ?? error.stack);
    }
  }
`;
