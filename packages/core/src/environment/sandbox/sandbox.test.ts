import { expect, test } from "vitest";
import type { SandboxAvailability } from "./availability.ts";
import { createSandbox, sandboxNotice } from "./sandbox.ts";

const place = { workspaceDir: "/home/me/app", scratchpadDir: "/data/scratchpad/s" };

test("a sandbox that is asked for and not available is an error, never a downgrade", () => {
  const missing = (): SandboxAvailability => ({ problem: "it is not there", hint: "install it" });
  expect(() => createSandbox({ mode: "read-only", network: "on" }, place, missing)).toThrow(
    expect.objectContaining({
      code: "sandbox-unavailable",
      message: "the sandbox read-only is asked for and not available: it is not there",
      hint: "install it; or run without, with --sandbox off",
    }),
  );
});

test("without a sandbox nothing is looked for", () => {
  const never = (): SandboxAvailability => {
    throw new Error("looked for");
  };
  expect(createSandbox({ mode: "off", network: "on" }, place, never)).toBeUndefined();
  expect(createSandbox(undefined, place, never)).toBeUndefined();
});

test("a model is told where it may write, and whether there is a network", () => {
  expect(sandboxNotice({ mode: "off", network: "on" }, place)).toBeUndefined();
  const open = sandboxNotice({ mode: "workspace-write", network: "on" }, place);
  expect(open).toContain("can write below /home/me/app and /data/scratchpad/s only");
  expect(open).not.toContain("no network");
  const closed = sandboxNotice({ mode: "read-only", network: "off" }, place);
  expect(closed).toContain("can write below /data/scratchpad/s only");
  expect(closed).toContain("Commands have no network");
});
