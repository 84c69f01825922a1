import fc from "fast-check";
import { expect, test } from "vitest";
import { isSessionId } from "./session-id.ts";
import { sessionPaths } from "./session-paths.ts";

test("everything of a session lies in directories of its id", () => {
  const id = "session-2026-03-04-05-06-07-01234567";
  expect(sessionPaths("/agent", id)).toEqual({
    traceDir: `/agent/traces/${id}`,
    lockFile: `/agent/traces/${id}/lock`,
    processesFile: `/agent/traces/${id}/processes`,
    stateFile: `/agent/traces/${id}/session.json`,
    scratchpadDir: `/agent/scratchpad/${id}`,
    undoDir: `/agent/undo/${id}`,
  });
});

test("text that is not a session id never becomes a path", () => {
  const text = fc.oneof(fc.string(), fc.constantFrom("../x", "..", ".", "/", "session-../../x"));
  fc.assert(
    fc.property(
      text.filter((candidate) => !isSessionId(candidate)),
      (candidate) => {
        expect(() => sessionPaths("/agent", candidate)).toThrow(
          expect.objectContaining({
            code: "session-not-found",
            message: `${JSON.stringify(candidate)} is not a session id`,
          }),
        );
      },
    ),
  );
});
