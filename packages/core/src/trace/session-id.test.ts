import fc from "fast-check";
import { expect, test } from "vitest";
import { isSessionId, newSessionId, sessionStartedAt } from "./session-id.ts";

test("an id tells the moment in UTC and ends with eight random digits", () => {
  const now = new Date("2026-03-04T05:06:07.890Z");
  expect(newSessionId(now)).toMatch(/^session-2026-03-04-05-06-07-[0-9a-f]{8}$/);
  expect(newSessionId(now)).not.toBe(newSessionId(now));
});

test("every id is recognised and gives back its moment", () => {
  fc.assert(
    fc.property(fc.date({ min: new Date(0), max: new Date("9999-12-31"), noInvalidDate: true }), (now) => {
      const id = newSessionId(now);
      expect(isSessionId(id)).toBe(true);
      expect(sessionStartedAt(id)).toBe(`${now.toISOString().slice(0, 19)}.000Z`);
    }),
  );
});

test.each([
  "",
  "../x",
  "session-2026-03-04-05-06-07-0123456",
  "session-2026-03-04-05-06-07-0123456G",
  "session-2026-03-04-05-06-07-01234567/..",
  "session-2026-03-04-05-06-07-01234567\n",
  " session-2026-03-04-05-06-07-01234567",
])("%j is no session id", (text) => {
  expect(isSessionId(text)).toBe(false);
});
