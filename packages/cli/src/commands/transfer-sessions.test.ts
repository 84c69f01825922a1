import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAgent, runToEnd, userText } from "@rookery/core";
import { scriptedLLM } from "@rookery/core/testing";
import { afterAll, expect, test } from "vitest";
import { type FakeIo, fakeIo } from "../../test/support/fake-io.ts";
import { rookery } from "../rookery.ts";

const root = mkdtempSync(join(tmpdir(), "rookery-transfer-test-"));
afterAll(() => rmSync(root, { recursive: true }));

test("a session goes through a file, or through a pipe, to another data directory as it is", async () => {
  const { id, root, text } = await recorded();
  const file = join(newDirectory(), "session.jsonl");
  expect(await sessions(["export", id, file], root)).toMatchObject({ code: 0, out: "", err: "" });
  expect(readFileSync(file, "utf8")).toBe(text);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  for (const argv of [
    ["export", id],
    ["export", id, "-"],
  ])
    expect((await sessions(argv, root)).out).toBe(text);

  const other = newDirectory();
  expect(await sessions(["import", file], other)).toMatchObject({ code: 0, out: `imported ${id}\n`, err: "" });
  expect((await sessions(["export", id], other)).out).toBe(text);
  const piped = await sessions(["import", "-", "--output", "json"], newDirectory(), text);
  expect(JSON.parse(piped.out)).toEqual({ session_id: id, contexts: 1, torn: false });
});

test("at a terminal an export cannot control it", async () => {
  const { id, root, text } = await recorded("\u009b2J");
  const { out } = await sessions(["export", id], root, undefined, true);
  expect(out).toBe(text.replaceAll("\u009b", "\\u009b"));
});

test("a session that is there already is refused, and taken in under a fresh id with --as-new", async () => {
  const { id, root, text } = await recorded();
  const refused = await sessions(["import", "-"], root, text);
  expect(refused).toMatchObject({
    code: 2,
    err: `rookery: nothing was imported: session ${id} is here already; import it under a fresh id with --as-new, or remove the other one first\n`,
  });
  const { out } = await sessions(["import", "-", "--as-new"], root, text);
  expect(out).toMatch(/^imported session-/);
  expect(out).not.toContain(id);
  expect((await sessions(["list"], root)).out.split("\n")).toHaveLength(3);
});

test("a file that was cut off is taken in without its last line, with a warning; one that is no export is not", async () => {
  const { text } = await recorded();
  const cut = await sessions(["import", "-"], newDirectory(), text.slice(0, -10));
  expect(cut).toMatchObject({ code: 0, err: "rookery: warning: the last line was cut off and is left out\n" });
  const wrong = await sessions(["import", "-"], newDirectory(), "\x1b[2J\n");
  expect(wrong).toMatchObject({ code: 2, out: "" });
  expect(wrong.err).toBe(
    'rookery: nothing was imported: line 1 is not JSON: "\\u001b[2J"; take the file as rookery sessions export wrote it\n',
  );
});

test("an export replaces a file when it is whole, and leaves it when it fails", async () => {
  const { id, root, text } = await recorded();
  const directory = newDirectory();
  const file = join(directory, "session.jsonl");
  writeFileSync(file, "old");
  expect((await sessions(["export", "session-9", file], root)).code).toBe(2);
  expect(readFileSync(file, "utf8")).toBe("old");
  expect((await sessions(["export", id, file], root)).code).toBe(0);
  expect(readFileSync(file, "utf8")).toBe(text);
  expect(readdirSync(directory)).toEqual(["session.jsonl"]);
});

test.each([
  [
    ["export", "ID", "/no/such/file"],
    /^rookery: cannot export to \/no\/such\/file: ENOENT.*; name a file that you may write\n$/,
  ],
  [
    ["export", "ID", "/dev/null"],
    "rookery: cannot export to /dev/null: it is not a file; name a file that you may write\n",
  ],
  [["import", "/no/such/file"], /^rookery: cannot read \/no\/such\/file: ENOENT.*; name a file that you may read\n$/],
  [["import", "/"], /^rookery: cannot read \/: EISDIR.*; name a file that you may read\n$/],
])("%j is one line that says what would be right", async (argv, message) => {
  const { id, root } = await recorded();
  const { code, err } = await sessions(
    argv.map((word) => (word === "ID" ? id : word)),
    root,
  );
  expect(code).toBe(2);
  expect(err).toEqual(typeof message === "string" ? message : expect.stringMatching(message));
});

test("Ctrl-C ends an import from a pipe, and nothing of it is left", async () => {
  const { text } = await recorded();
  const other = newDirectory();
  const io = fakeIo();
  const ended = rookery(["sessions", "import", "-", "--root", other], io);
  io.stdin.write(text);
  const begun = () =>
    existsSync(other) && readdirSync(other, { recursive: true }).some((name) => /001\.jsonl$/.test(`${name}`));
  while (!begun()) await new Promise((resolve) => setImmediate(resolve));
  io.signals.emit("SIGINT");
  expect(await ended).toBe(130);
  expect([io.out(), io.err()]).toEqual(["", ""]);
  expect(readdirSync(other, { recursive: true }).filter((name) => `${name}`.includes("import"))).toEqual([]);
});

test("an import does not wait for a person to type one", async () => {
  const { code, err } = await sessions(["import", "-"], newDirectory(), undefined, true);
  expect([code, err]).toEqual([2, "rookery: standard input is a terminal; name a file, or pipe an export in\n"]);
});

async function recorded(answer = "Hello."): Promise<{ id: string; root: string; text: string }> {
  const root = newDirectory();
  const agent = await createAgent({ root, env: {}, createLLM: () => scriptedLLM(answer) });
  const session = await agent.createSession({ workspaceDir: newDirectory() });
  await runToEnd(session, [userText("Hi")]);
  await agent.dispose();
  return { id: session.sessionId, root, text: readFileSync(session.traceFile, "utf8") };
}

async function sessions(
  argv: readonly string[],
  root: string,
  stdin?: string,
  isTTY = false,
): Promise<{ io: FakeIo; code: number; out: string; err: string }> {
  const io = fakeIo({ isTTY, ...(stdin !== undefined && { stdin }) });
  const code = await rookery(["sessions", ...argv, "--root", root], io);
  return { io, code, out: io.out(), err: io.err() };
}

function newDirectory(): string {
  return mkdtempSync(join(root, "at-"));
}
