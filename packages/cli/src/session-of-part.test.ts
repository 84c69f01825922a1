import type { Agent } from "@rookery/core";
import { expect, test } from "vitest";
import { sessionOfPart } from "./session-of-part.ts";

const ids = ["session-2026-11-30-09-00-00-aaaaaaaa", "session-2026-11-30-09-00-01-aaaabbbb"];

function agentWith(listSessions: () => Promise<{ id: string }[]>): Agent {
  return { listSessions } as unknown as Agent;
}

const agent = agentWith(async () => ids.map((id) => ({ id })));

test("a part that one session has names it; a part of none, and nothing, is left for the agent to judge", async () => {
  expect(await sessionOfPart(agent, "bbbb")).toBe(ids[1]);
  expect(await sessionOfPart(agent, "cccc")).toBe("cccc");
  expect(await sessionOfPart(agent, "")).toBe("");
});

test("a part that several have is an error that names them", async () => {
  await expect(sessionOfPart(agent, "aaaa")).rejects.toMatchObject({
    code: "usage",
    message: '2 sessions have "aaaa" in their id',
    hint: `name one of ${ids.join(", ")}`,
  });
});

test("for a whole id no session is read", async () => {
  const unread = agentWith(() => Promise.reject(new Error("listed")));
  expect(await sessionOfPart(unread, ids[0] as string)).toBe(ids[0]);
  await expect(sessionOfPart(unread, `${ids[0]}-more`)).rejects.toThrow("listed");
});
