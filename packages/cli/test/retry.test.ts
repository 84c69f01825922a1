import { mkdtempSync, readFileSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { rookery } from "../src/rookery.ts";
import { type ChatReply, type ChatServer, startChatServer } from "./support/chat-server.ts";
import { type FakeIo, fakeIo, written } from "./support/fake-io.ts";

let server: ChatServer;
afterEach(() => server.close());

/** Asks for more patience than a test has. */
const BUSY: ChatReply = { status: 503, body: '{"error":{"message":"busy"}}', headers: { "retry-after": "50" } };
const WORDS = "the provider answered HTTP 503: busy";
const WAITS = "press Enter to try now, Ctrl-C to give up";

test("at a terminal Enter ends the wait, and the run goes on to its end", async () => {
  const io = fakeIo({ isTTY: true, env: { NO_COLOR: "1" } });
  io.stdin.write("typed before\n");
  const running = run(io, (index) => (index < 2 ? BUSY : { text: ["fine"] }));
  await pressEnterUntil(io, "attempt 3 of 6");
  await pressEnterUntil(io, "fine");
  expect(await running).toBe(0);
  const line = (attempt: number): string => `↻ retrying in 50 s (attempt ${attempt} of 6): ${WORDS} — ${WAITS}
`;
  expect(io.out()).toBe(`${line(2)}${line(3)}fine
`);
});

test.each([
  ["text", []],
  ["json", ["--output", "json"]],
])("at a terminal Ctrl-C gives up a wait at once with exit code 130, as %s", async (_, flags) => {
  const io = fakeIo({ isTTY: true });
  const running = run(io, () => BUSY, flags);
  await written(() => io.out() + io.err(), WAITS);
  io.signals.emit("SIGINT");
  expect(await running).toBe(130);
  expect(server.requests).toHaveLength(1);
  expect(io.out() + io.err()).toContain(
    `the run was interrupted while a request was tried again; the last attempt: ${WORDS}`,
  );
});

const PROMPT_BUSY: ChatReply = { ...BUSY, headers: { "retry-after": "0" } };

test.each([
  ["text", [], "fine\n"],
  ["json", ["--output", "json"], expect.stringMatching(/^\{.*"text":"fine".*\}\n$/)],
])("off a terminal each repeated attempt is one plain line on standard error, as %s", async (_, flags, out) => {
  const io = fakeIo();
  expect(await run(io, (index) => (index < 2 ? PROMPT_BUSY : { text: ["fine"] }), flags)).toBe(0);
  expect(io.err()).toBe(`↻ retrying now (attempt 2 of 6): ${WORDS}\n↻ retrying now (attempt 3 of 6): ${WORDS}\n`);
  expect(io.out()).toEqual(out);
});

test("stream-json shows each failed attempt as it is recorded, and nothing on standard error", async () => {
  const io = fakeIo();
  await run(io, (index) => (index === 0 ? PROMPT_BUSY : { text: ["fine"] }), ["--output", "stream-json"]);
  const ends = io
    .out()
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line).payload)
    .filter(({ type }) => type === "request_end");
  expect(ends).toMatchObject([
    { status: "timeout", error_message: WORDS, attempt: 1, retry_in_ms: 0 },
    { status: "completed" },
  ]);
  expect(io.err()).toBe("");
});

test("a wait of more than a minute is not waited for: the run ends and names it", async () => {
  const io = fakeIo();
  expect(await run(io, () => ({ ...BUSY, status: 429, headers: { "retry-after": "86400" } }))).toBe(1);
  expect(io.err()).toBe(
    "rookery: failed (retries-exhausted): the provider asks to wait 86400 s before the next request " +
      "(the provider answered HTTP 429: busy); try again then\n",
  );
});

test("--debug adds what went over the wire to a file of the user's own, says where, and shows no key", async () => {
  const directory = mkdtempSync(join(tmpdir(), "rookery-debug-"));
  const key = "sk-canary-5566778899";
  const io = fakeIo({ cwd: directory, env: { LOCAL_API_KEY: key } });
  const flags = ["--debug", "wire.jsonl"];
  expect(await run(io, (index) => (index === 0 ? PROMPT_BUSY : { text: ["fine"] }), flags)).toBe(0);
  const file = join(directory, "wire.jsonl");
  expect(io.err()).toContain(`rookery: requests and answers are added to ${file}\n`);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const text = readFileSync(file, "utf8");
  const records = text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(records.filter(({ event }) => event === "response").map(({ status }) => status)).toEqual([503, 200]);
  expect(records[0].headers.authorization).toBe("[redacted]");
  expect(text).not.toContain(key);
});

test("a file for --debug that cannot be used is exit code 2 before anything is asked", async () => {
  const io = fakeIo();
  expect(await run(io, () => BUSY, ["--debug", "/dev/null"])).toBe(2);
  expect(io.err()).toBe(
    "rookery: cannot write a debug log to /dev/null: it is not a regular file; name a new file, or one of your own\n",
  );
  expect(server.requests).toEqual([]);
});

/** Pressed again until it shows: what is typed before the wait does not count. */
async function pressEnterUntil(io: FakeIo, shown: string): Promise<void> {
  while (!io.out().includes(shown)) {
    io.stdin.write("\n");
    await new Promise((resolve) => setImmediate(resolve));
  }
}

async function run(io: FakeIo, reply: (index: number) => ChatReply, flags: string[] = []): Promise<number> {
  server = await startChatServer(reply);
  return rookery(argv(flags), io);
}

function argv(flags: string[]): string[] {
  const root = mkdtempSync(join(tmpdir(), "rookery-root-"));
  return ["run", "--root", root, "--model", "local/m", "--base-url", server.baseUrl, ...flags, "hi"];
}
