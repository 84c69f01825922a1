import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { bundleProgram } from "./support/bundle-program.ts";
import { crashedSession } from "./support/crash-driver.ts";

const PROTOCOLS = ["openai-chat", "openai-responses", "anthropic-messages", "google"] as const;

test("a session that is killed again and again comes to its end: no result is lost or fed twice, no call is without its output, and the files are those of an undisturbed run", async () => {
  const home = mkdtempSync(join(tmpdir(), "rookery-crash-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const program = await bundleProgram("crash-session.ts", home);
  // Which moments they are killed at is random on purpose; nothing depends on it.
  const run = (
    name: string,
    clientType: (typeof PROTOCOLS)[number],
    kills: number,
  ): ReturnType<typeof crashedSession> => crashedSession(program, { directory: join(home, name), clientType, kills });
  const [undisturbed, ...killed] = await Promise.all([
    run("undisturbed", "openai-chat", 0),
    ...PROTOCOLS.map((clientType) => run(clientType, clientType, 3)),
  ]);
  expect(Object.keys(undisturbed.files)).toHaveLength(15);
  for (const { found, files } of [undisturbed, ...killed]) {
    expect(found).toEqual([]);
    expect(files).toEqual(undisturbed.files);
  }
}, 60_000);
