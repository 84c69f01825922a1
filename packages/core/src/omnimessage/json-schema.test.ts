import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import fc from "fast-check";
import { expect, test } from "vitest";
import { arbitraryMessage, arbitraryMutant } from "../../test/support/arbitrary-message.ts";
import { sampleMessages } from "../../test/support/sample-payloads.ts";
import { sessionMetaMessage, userText, withOrigin } from "./build.ts";
import { omniMessageJsonSchema } from "./json-schema.ts";
import { isOmniMessage } from "./validate.ts";

const validate: ValidateFunction = new Ajv2020({ strict: true }).compile(omniMessageJsonSchema());

test("the published schema is current", async () => {
  // To write it anew: npx vitest run packages/core/src/omnimessage/json-schema.test.ts --update
  const published = "../../../../docs/omnimessage.schema.json";
  await expect(`${JSON.stringify(omniMessageJsonSchema(), null, 2)}\n`).toMatchFileSnapshot(published);
});

test("the schema accepts a message of every type", () => {
  for (const message of sampleMessages) {
    expect([message.payload.type, validate(message)]).toEqual([message.payload.type, true]);
  }
  const meta = { session_id: "s", provider: "p", model_id: "m", system_prompt: "", agent_state: "/a", workspace: "/w" };
  expect(validate(sessionMetaMessage({ ...meta, model_context_window: 200_000 }))).toBe(true);
  expect(validate(withOrigin(userText("hi"), "child"))).toBe(true);
});

test("the schema refuses what is broken", () => {
  const message = userText("hi");
  expect(validate({ ...message, timestamp: "yesterday" })).toBe(false);
  expect(validate({ ...message, origin: [] })).toBe(false);
  expect(validate({ ...message, payload: { ...message.payload, text: null } })).toBe(false);
  expect(validate({ ...message, type: "event_msg" })).toBe(false);
  expect(validate({ ...message, type: "session_meta" })).toBe(false);
});

test("schema and runtime validation agree on every message, whole or broken", () => {
  let broken = 0;
  fc.assert(
    fc.property(fc.oneof(arbitraryMessage, arbitraryMutant), (message) => {
      const isMessage = isOmniMessage(message);
      if (!isMessage) broken += 1;
      expect(validate(message)).toBe(isMessage);
    }),
    { numRuns: 1000 },
  );
  expect(broken).toBeGreaterThan(100);
});
