import { expect, test } from "vitest";
import { outcome } from "../test/support/fake-agent.ts";
import { runHint } from "./run-hint.ts";

const meta = { provider: "my-lab", model_id: "org/m" };

test("a refused key leads to its variable and to the command that stores one", () => {
  expect(runHint(outcome({ status: "auth" }), meta)).toBe(
    "check MY_LAB_API_KEY, or store another key with rookery config model add my-lab/org/m",
  );
});

test("a first request that is refused leads to name and address, a later one does not", () => {
  const refused = { status: "failed", code: "provider-refused" } as const;
  expect(runHint(outcome({ ...refused, turns: 0 }), meta)).toBe("check the model's name and the address");
  expect(runHint(outcome({ ...refused, turns: 1 }), meta)).toBeUndefined();
  const message = "the proxy in HTTPS_PROXY asks for a user name and password (HTTP 407); put the right ones in";
  expect(runHint(outcome({ ...refused, turns: 0, message }), meta)).toBeUndefined();
});

test.each([
  ["connect ECONNREFUSED 127.0.0.1:8080", "is the server running?"],
  ["connect ECONNREFUSED ::1:8080", "is the server running?"],
  ["connect ECONNREFUSED 203.0.113.7:443", undefined],
  ["HTTP 503", undefined],
])("after all attempts, %s: %s", (message, hint) => {
  expect(runHint(outcome({ status: "timeout", code: "retries-exhausted", message }), meta)).toBe(hint);
});

test("a run that completed or was interrupted needs no hint", () => {
  expect(runHint(outcome(), meta)).toBeUndefined();
  expect(runHint(outcome({ status: "aborted" }), meta)).toBeUndefined();
});
