import { tmpdir } from "node:os";
import { afterEach, beforeEach, expect, test } from "vitest";
import { CommandSession } from "./command-session.ts";
import { CommandSessions } from "./command-sessions.ts";
import { ProcessRegistry } from "./process-registry.ts";

let registry: ProcessRegistry;

beforeEach(() => {
  registry = new ProcessRegistry();
});

afterEach(() => registry.dispose());

function start(command: string): CommandSession {
  const env = { PATH: process.env.PATH ?? "" };
  const running = registry.run({ file: "/bin/sh", args: ["-c", command], cwd: tmpdir(), env });
  return new CommandSession(running, { command, cwd: tmpdir() });
}

let calls = 0;
const keep = (sessions: CommandSessions, session: CommandSession): string => sessions.keep(session, `call_${++calls}`);

const ENDED =
  "had ended and was dropped to make room for another command: 64 can be kept; there is nothing more to read";
const STOPPED = "was ended to make room for another command: 64 can be kept; there is nothing more to read";

test("of 64 sessions one that has ended makes room before any that runs, the least recently used first (PT-110)", async () => {
  const sessions = new CommandSessions();
  const ids = Array.from({ length: 62 }, () => keep(sessions, start("exec sleep 300")));
  const [one, two] = [start("true"), start("true")];
  const ended = [keep(sessions, one), keep(sessions, two)] as const;
  await Promise.all([one.ended, two.ended]);
  sessions.find(ended[0]);
  ids.push(keep(sessions, start("exec sleep 300")));
  expect(sessions.explainMissing(ended[1])).toBe(`${ended[1]} ${ENDED}`);
  expect(sessions.peek(ended[0])).toBe(one);
  ids.push(keep(sessions, start("exec sleep 300")));
  expect(sessions.peek(ended[0])).toBeUndefined();
  expect(ids.filter((id) => sessions.peek(id) === undefined)).toEqual([]);
});

test("if none has ended the least recently used one that nobody follows is ended (PT-111)", async () => {
  const sessions = new CommandSessions();
  const all = Array.from({ length: 64 }, () => start("exec sleep 300"));
  const ids = all.map((session) => keep(sessions, session));
  const [first = "", second = "", third = ""] = ids;
  sessions.find(first);
  // Looking is not using.
  sessions.peek(second);
  all[1]?.follow();
  keep(sessions, start("exec sleep 300"));
  expect(ids.filter((id) => sessions.peek(id) === undefined)).toEqual([third]);
  expect(sessions.explainMissing(third)).toBe(`${third} ${STOPPED}`);
  expect(await all[2]?.ended).toMatchObject({ outcome: "aborted", signal: "SIGTERM" });
});

test("there are never more than 64, also when all are followed", async () => {
  const sessions = new CommandSessions();
  const all = Array.from({ length: 64 }, () => start("exec sleep 300"));
  for (const session of all) {
    session.follow();
    keep(sessions, session);
  }
  keep(sessions, start("exec sleep 300"));
  expect(await all[0]?.ended).toMatchObject({ outcome: "aborted" });
});

test("the id of a command is made from the call that started it, and a call id that comes again gives another", async () => {
  const ids = [new CommandSessions(), new CommandSessions()].map((sessions) => {
    const first = sessions.keep(start("exec sleep 300"), "call_1");
    const second = sessions.keep(start("exec sleep 300"), "call_1");
    sessions.remove(first, "is gone");
    return [first, second, sessions.keep(start("exec sleep 300"), "call_1")];
  });
  expect(ids[0]).toEqual(ids[1]);
  expect(new Set(ids[0]).size).toBe(3);
});

test("a command that has to make room is reported all the same, with the end of what it printed", async () => {
  const sessions = new CommandSessions();
  const [long, untold] = [start("printf '%9000d' 7"), start("echo up; exec sleep 300")];
  const ids = [long, untold].map((session) => keep(sessions, session));
  await long.ended;
  while (untold.printed === 0) await untold.change(0, Number.POSITIVE_INFINITY, undefined);
  for (let count = 0; count < 64; count++) keep(sessions, start("exec sleep 300"));
  const settled = new Promise<void>((resolve) => sessions.onSettled(resolve));
  await Promise.all([untold.ended, settled]);
  const reports = sessions.takeReports();
  expect(reports).toMatchObject([
    { id: ids[0], status: "completed", detail: "exit code 0", unreadChars: 0 },
    {
      id: ids[1],
      status: "aborted",
      detail: "was ended to make room for another command: 64 can be kept",
      output: "up\n",
    },
  ]);
  expect(reports[0]?.output).toMatch(/^ {3999}7$/);
  expect([sessions.hasReports, sessions.takeReports()]).toEqual([false, []]);
});

test("reports that are taken at once give 16,000 characters together, and the rest stays to be read", async () => {
  const sessions = new CommandSessions();
  const all = Array.from({ length: 8 }, () => start("printf '%9000d' 7"));
  for (const session of all) keep(sessions, session);
  await Promise.all(all.map(({ ended }) => ended));
  const reports = sessions.takeReports();
  expect(reports.map(({ output, unreadChars }) => [output.length, unreadChars])).toEqual(all.map(() => [2000, 7000]));
  expect(all.map((session) => session.takeAll().join("").length)).toEqual(all.map(() => 7000));
});

test("titles and reports hold no value of the vault", async () => {
  const sessions = new CommandSessions();
  const vault = { TOKEN: "secret-value" };
  const command = "echo secret-value";
  const env = { PATH: process.env.PATH ?? "" };
  const running = registry.run({ file: "/bin/sh", args: ["-c", command], cwd: tmpdir(), env, vault });
  const session = new CommandSession(running, { command, cwd: tmpdir(), vault });
  keep(sessions, session);
  expect(sessions.list()).toMatchObject([{ title: "echo [vault:TOKEN]" }]);
  await session.ended;
  expect(sessions.takeReports()).toMatchObject([{ title: "echo [vault:TOKEN]", output: "[vault:TOKEN]\n" }]);
});

test("while a call follows a command its end is that call's to tell", async () => {
  const sessions = new CommandSessions();
  const session = start("true");
  const id = keep(sessions, session);
  const unfollow = session.follow();
  await session.ended;
  expect(sessions.hasReports).toBe(false);
  // The call was given up before it told anything.
  unfollow();
  expect(sessions.takeReports()).toMatchObject([{ id, status: "completed" }]);
});
