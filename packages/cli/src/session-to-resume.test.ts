import { eventMessage, type SessionSummary } from "@rookery/core";
import { expect, test } from "vitest";
import { fakeAgent, outcome } from "../test/support/fake-agent.ts";
import { type FakeIo, fakeIo, written } from "../test/support/fake-io.ts";
import { rookery } from "./rookery.ts";
import { sessionToResume } from "./session-to-resume.ts";

const [older, newer] = ["session-2026-01-01-00-00-00-aaaa1111", "session-2026-01-02-00-00-00-bbbb1111"];

test.each([
  ["the whole id", newer],
  ["the end of it", "bbbb1111"],
])("--resume with %s goes on with that session, in its own workspace", async (_, id) => {
  const { code, log } = await run(["--resume", id]);
  expect(code).toBe(0);
  expect(log).toContainEqual(["resumeSession", newer, {}]);
});

test("a workspace and a model that are given are passed on, to be compared with the session's", async () => {
  const { log } = await run(["--resume", newer, "--workspace", "sub", "--model", "hub/m"]);
  const options = { provider: "hub", modelId: "m", workspaceDir: "/tmp/sub" };
  expect(log).toContainEqual(["resumeSession", newer, options]);
});

test("an empty id means no session, also where there is one only", async () => {
  expect((await run(["--resume", ""])).log).toContainEqual(["resumeSession", "", {}]);
});

test("--continue goes on with the latest session of the workspace", async () => {
  const { log } = await run(["--continue"]);
  expect(log).toContainEqual(["latestSessionId", { workspace: "/tmp" }]);
  expect(log).toContainEqual(["resumeSession", newer, {}]);
});

test("--resume without an id lets a person at a terminal pick", async () => {
  const io = fakeIo({ isTTY: true, cwd: "/tmp" });
  const running = run(["--resume"], io);
  await written(io.err, "Which one? 1 to 2: ");
  expect(io.err()).toContain(" 1  2026-01-03 00:00  /w  fix ␛[2Jit\n 2  2026-01-03 00:00  /w  fix ␛[2Jit\n");
  io.stdin.write("9\n");
  await written(io.err, "Which one? 1 to 2: Which one? 1 to 2: ");
  io.stdin.write("2\n");
  expect((await running).log).toContainEqual(["resumeSession", older, {}]);
});

test.each([
  ["--resume and --continue together", ["--continue", "--resume", newer], "--resume came together with --continue"],
  ["a part that several ids have", ["--resume", "1111"], "2 sessions have"],
  ["--resume without an id where nobody can pick", ["--resume"], "nobody sits at a terminal"],
  ["--resume twice", ["--resume", newer, "--resume", older], "--resume was given more than once"],
])("%s is an error of usage that starts nothing", async (_, flags, message) => {
  const { code, log, io } = await run(flags);
  expect(code).toBe(2);
  expect(io.err()).toContain(message);
  expect(log.map(([name]) => name)).not.toContain("createSession");
});

test("--resume before words with blanks picks a session for them as the prompt", async () => {
  const io = fakeIo({ isTTY: true, cwd: "/tmp" });
  const running = run(["--resume", "go on"], io, []);
  await written(io.err, "Which one? 1 to 2: ");
  io.stdin.write("1\n");
  const { code, log } = await running;
  expect(code).toBe(0);
  expect(log).toContainEqual(["resumeSession", newer, {}]);
});

test("a prompt that --resume took for an id is named", async () => {
  const io = fakeIo({ isTTY: true, cwd: "/tmp" });
  expect((await run(["--resume", "continue"], io, [])).code).toBe(2);
  expect(io.err()).toContain('run was given no prompt: "continue" is what --resume was given');
});

test("of more sessions than are shown the number is told", async () => {
  const io = fakeIo({ isTTY: true, cwd: "/tmp" });
  const sessions = Array.from({ length: 23 }, (_, i) => ({ ...SUMMARY, id: `session-${i}` }));
  const running = rookery(["run", "x", "--resume"], io, fakeAgent({ sessions }));
  await written(io.err, "Which one? 1 to 20: ");
  expect(io.err()).toContain("    and 3 more: rookery sessions list\n");
  io.stdin.end();
  await running;
});

test("Ctrl-C ends the picking at once, and nothing is started", async () => {
  const io = fakeIo({ isTTY: true, cwd: "/tmp" });
  const running = run(["--resume"], io);
  await written(io.err, "Which one?");
  io.signals.emit("SIGINT");
  const { code, log } = await running;
  expect(code).toBe(130);
  expect(log.map(([name]) => name)).not.toContain("resumeSession");
});

test("an interruption while the list was read asks nothing", async () => {
  const io = fakeIo({ isTTY: true, cwd: "/tmp" });
  const { createAgent } = fakeAgent({ sessions: [{ ...SUMMARY, id: newer }] });
  const agent = await createAgent({});
  expect(await sessionToResume(agent, { resume: true }, "/tmp", io, AbortSignal.abort())).toBeUndefined();
  expect(io.err()).toBe("");
});

test("the end of the input picks nothing", async () => {
  const io = fakeIo({ isTTY: true, cwd: "/tmp" });
  const running = run(["--resume"], io);
  await written(io.err, "Which one?");
  io.stdin.end();
  expect((await running).code).toBe(2);
  expect(io.err()).toContain("no session was picked");
});

test("--continue where no session was recorded is an error", async () => {
  const io = fakeIo({ cwd: "/tmp" });
  expect(await rookery(["run", "x", "--continue"], io, fakeAgent({}))).toBe(2);
  expect(io.err()).toContain("no session was recorded in /tmp");
});

async function run(
  flags: readonly string[],
  io: FakeIo = fakeIo({ cwd: "/tmp" }),
  prompt: readonly string[] = ["go on"],
): Promise<{ code: number; log: unknown[][]; io: FakeIo }> {
  const sessions = [newer, older].map((id): SessionSummary => ({ ...SUMMARY, id }));
  const agent = fakeAgent({
    sessions,
    async *run() {
      yield eventMessage({ type: "request_begin" });
      return outcome();
    },
  });
  return { code: await rookery(["run", ...prompt, ...flags], io, agent), log: agent.log, io };
}

const SUMMARY = {
  startedAt: "2026-01-01T00:00:00Z",
  updatedAt: "2026-01-03T00:00:00Z",
  workspace: "/w",
  firstText: "fix \x1b[2Jit",
  bytes: 1,
  contexts: 1,
  empty: false,
} as const;
