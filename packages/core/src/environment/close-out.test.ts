import { createHash } from "node:crypto";
import { chmod, mkdir, mkdtemp, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { isAbsolute, join } from "node:path";
import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { becomeOrdinaryUser } from "../../test/support/become-ordinary-user.ts";
import { type CollectedOutput, collectOutput } from "../../test/support/collect-output.ts";
import { eventMessage, modelMessage, withOrigin } from "../omnimessage/build.ts";
import { ofType } from "../omnimessage/guards.ts";
import type { OmniMessage } from "../omnimessage/message.ts";
import { callLimits } from "./call-limits.ts";
import { closeOut, type Execution } from "./close-out.ts";
import type { ToolDefinitionConfig, ToolResult } from "./contract.ts";
import { outputDelta } from "./output-delta.ts";

type Script = (signal: AbortSignal) => AsyncGenerator<unknown, unknown>;
type Options = Partial<Omit<Execution, "limits" | "start">> & { limits?: Partial<ToolDefinitionConfig> };

function execution(start: Script, { limits, ...rest }: Options = {}): Execution {
  return {
    toolName: "talk",
    toolCallId: "call_1",
    start,
    onWarning: () => {},
    ...rest,
    limits: callLimits(limits ?? {}),
  };
}

function close(start: Script, options?: Options): Promise<CollectedOutput> {
  return collectOutput(closeOut(execution(start, options)));
}

/** A tool that says these texts and returns this. */
function says(texts: readonly string[], result?: ToolResult): Script {
  return async function* () {
    for (const text of texts) yield outputDelta("call_1", text);
    return result;
  };
}

/** A tool that only returns. */
function returns(result: unknown): Script {
  return async function* () {
    yield* [];
    return result;
  };
}

/** A tool that says one text and then waits for its signal. */
function waits(after: (signal: AbortSignal) => unknown = () => undefined): Script {
  return async function* (signal) {
    yield outputDelta("call_1", "half");
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve));
    return after(signal);
  };
}

function fail(error: unknown): never {
  throw error;
}

function scratchpad(): Promise<string> {
  return mkdtemp(join(tmpdir(), "rookery-archive-"));
}

describe("framing", () => {
  test("a tool that only yields deltas gives start, deltas, stop and the complete message (PT-019, PT-027, PT-029, PT-030)", async () => {
    const { complete, deltas, messages } = await close(says(["a", "", "b"]));
    expect(complete).toEqual({
      type: "tool_call_output",
      role: "user",
      output: "ab",
      tool_call_id: "call_1",
      stop_reason: "completed",
    });
    expect(deltas).toEqual(["a", "b"]);
    expect(messages).toHaveLength(5);
  });

  test("a tool that produces nothing yields [no output] (PT-034)", async () => {
    expect((await close(says([]))).complete.output).toBe("[no output]");
    expect((await close(says([""], { note: "" }))).complete.output).toBe("[no output]");
    expect((await close(says([], { note: "exit code 0" }))).complete.output).toBe("exit code 0");
  });

  test("the note stands on a line of its own (PT-025)", async () => {
    expect((await close(says(["done"], { note: "exit code 0" }))).complete.output).toBe("done\nexit code 0");
    expect((await close(says(["done\n"], { note: "exit code 0" }))).complete.output).toBe("done\nexit code 0");
  });

  test("images are one delta with the whole set before the stop, and only of a completed call (PT-026)", async () => {
    const images = ["data:image/png;base64,AA==", "data:image/png;base64,BB=="];
    const { complete, messages } = await close(says(["two"], { images }));
    expect(complete.images).toEqual(images);
    expect(messages.at(-3)?.payload).toMatchObject({ event_type: "delta", output: "", images });
    const failed = await close(says(["two"], { images, stopReason: "failed" }));
    expect(failed.complete).toMatchObject({ stop_reason: "failed", output: "two" });
    expect(failed.complete.images).toBeUndefined();
    expect((await close(says([], { images }))).complete.output).toBe("[2 images]");
    expect((await close(says([], { images: ["data:image/png;base64,AA=="] }))).complete.output).toBe("[1 image]");
  });

  test("images that no provider takes are left out, and the output says so", async () => {
    const url = (type: string, data = "AAAA"): string => `data:image/${type};base64,${data}`;
    const good = ["png", "jpeg", "gif", "webp"].map((type) => url(type));
    const odd = [url("svg+xml"), "data:,x", "https://x.org/a.png", "junk", ""];
    const broken = [url("png", "A"), url("png", "A==="), url("png", "AA=A"), url("png", "AA\n="), url("png", "AA-_")];
    const limit = 5 * 1024 * 1024;
    const large = url("png", Buffer.alloc(limit + 1).toString("base64"));
    const largest = url("png", Buffer.alloc(limit).toString("base64"));
    const images = [...odd, ...good, ...broken, url("gif", ""), large, largest];
    const { complete } = await close(says(["two"], { images, note: "note" }));
    expect(complete.images).toEqual([...good, largest]);
    expect(complete.output).toBe(
      [
        "two",
        "note",
        "[5 images were left out: they are no base64 data URLs of png, jpeg, gif or webp images]",
        "[5 images were left out: their base64 is broken]",
        "[an image was left out: it is empty]",
        "[an image was left out: it is over 5 MiB]",
      ].join("\n"),
    );
    expect((await close(says([], { images: [url("png", "")] }))).complete).toMatchObject({
      output: "[an image was left out: it is empty]",
      stop_reason: "completed",
    });
    expect((await close(says(["no"], { images: odd, stopReason: "failed" }))).complete.output).toBe("no");
  });

  test("details, usage, terminate and added tool names land on the complete message", async () => {
    const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
    const usage = { input: 1, output: 2, cacheRead: 3, cacheWrite: 4, totalTokens: 10, cost };
    const { complete } = await close(
      says(["x"], { details: { n: 1, gone: undefined }, usage, terminate: true, addedToolNames: ["late"] }),
    );
    expect(complete).toMatchObject({ details: { n: 1 }, usage, terminate: true, added_tool_names: ["late"] });
  });
});

describe("odd tools", () => {
  test("wrong ids, framing by the tool and unknown values become one legal output (PC-076)", async () => {
    const { complete } = await close(async function* () {
      yield modelMessage({ ...outputDelta("other", "a").payload, event_type: "start" });
      yield outputDelta("other", "b");
      yield* [undefined, null, 5, "text", {}, { payload: null }, { payload: { type: "unheard_of" } }, []];
      yield { payload: { type: "partial_tool_call_output", output: 7, images: [3, "data:image/png;base64,AA=="] } };
      yield modelMessage({ type: "text", role: "assistant", text: "not mine to say" });
      yield modelMessage({ ...outputDelta("other", "c").payload, event_type: "stop", stop_reason: "failed" });
      return { stopReason: "completed", note: 5, images: "data:,y", terminate: "yes", usage: {}, addedToolNames: [1] };
    });
    expect(complete).toEqual({
      type: "tool_call_output",
      role: "user",
      output: "abc",
      images: ["data:image/png;base64,AA=="],
      tool_call_id: "call_1",
      stop_reason: "completed",
    });
  });

  test("a complete message without deltas is the output, with what it says of itself (PC-076)", async () => {
    const whole = modelMessage({
      type: "tool_call_output",
      role: "user",
      output: "0123456789",
      tool_call_id: "other",
      stop_reason: "failed",
      details: { code: 3 },
    });
    const { complete } = await close(
      async function* () {
        yield whole;
      },
      { limits: { maxOutputLength: 4 } },
    );
    expect(complete).toMatchObject({
      output: "0123\n[... 6 characters omitted ...]",
      tool_call_id: "call_1",
      stop_reason: "failed",
      details: { code: 3 },
    });
  });

  test("a complete message after deltas does not repeat them (PC-076)", async () => {
    const { complete } = await close(async function* () {
      yield outputDelta("call_1", "said");
      yield modelMessage({ type: "tool_call_output", role: "user", output: "said", tool_call_id: "call_1" });
    });
    expect(complete.output).toBe("said");
  });

  test("an unknown stop reason counts as failed, and a non-object result as none (PC-076)", async () => {
    const { complete } = await close(returns({ stopReason: "fine" }));
    expect(complete.stop_reason).toBe("failed");
    const bare = await close(returns("done"));
    expect(bare.complete).toMatchObject({ output: "[no output]", stop_reason: "completed" });
  });

  test("something that is no generator fails as a message", async () => {
    const { complete } = await close((() => Promise.resolve("done")) as unknown as Script);
    expect(complete).toMatchObject({
      output: "[talk failed: its execute did not return an async generator]",
      stop_reason: "failed",
    });
  });

  test("messages with origin pass through as they are, and outside the pairing (PC-057)", async () => {
    const child = withOrigin(outputDelta("child_call", "child"), "session-child");
    const { complete, messages } = await close(async function* () {
      yield child;
      yield outputDelta("call_1", "own");
      yield child;
    });
    expect(messages.filter((message) => message === child)).toHaveLength(2);
    expect(complete.output).toBe("own");
  });

  test("progress passes through under the id of the call, its details made JSON", async () => {
    const { messages } = await close(async function* () {
      yield eventMessage({
        type: "tool_progress",
        tool_call_id: "other",
        text: "50%",
        details: { done: 1, of: undefined },
      });
      yield outputDelta("call_1", "x");
    });
    expect(ofType(messages, "tool_progress").map(({ payload }) => payload)).toEqual([
      { type: "tool_progress", tool_call_id: "call_1", text: "50%", details: { done: 1 } },
    ]);
  });
});

describe("how a call ends", () => {
  test("a throw keeps what was said and appends the error (PT-028)", async () => {
    const { complete } = await close(async function* () {
      yield outputDelta("call_1", "half");
      throw new Error("disk on fire");
    });
    expect(complete).toMatchObject({ output: "half\n[talk failed: disk on fire]", stop_reason: "failed" });
  });

  test("a throw before the first delta, and of something that is no error, end alike (PT-028)", async () => {
    expect((await close(() => fail("no"))).complete).toMatchObject({
      output: "[talk failed: no]",
      stop_reason: "failed",
    });
  });

  test("the error text of a throw is bounded", async () => {
    const { complete } = await close(() => fail(new Error("x".repeat(100_000))));
    expect(complete.output).toBe(`[talk failed: ${"x".repeat(1999)}…]`);
  });

  test("the time-out aborts the tool's signal with a TimeoutError and ends the call as timeout (PT-022, PT-031)", async () => {
    let reason: unknown;
    const tool = waits((signal) => {
      reason = signal.reason;
    });
    const { complete } = await close(tool, { limits: { timeoutMs: 10 } });
    expect(complete).toMatchObject({ output: "half\n[timed out after 0.01 s]", stop_reason: "timeout" });
    expect(reason).toMatchObject({ name: "TimeoutError" });
  });

  test("the caller's signal aborts the tool's, with its reason, and ends the call as aborted (PT-022, PT-031)", async () => {
    const controller = new AbortController();
    let reason: unknown;
    const stream = closeOut(
      execution(
        waits((signal) => {
          reason = signal.reason;
        }),
        { signal: controller.signal },
      ),
    );
    const { complete } = await collectOutput(abortAt(stream, "half", controller));
    expect(complete).toMatchObject({ output: "half\n[interrupted]", stop_reason: "aborted" });
    expect(reason).toBe("enough");
  });

  test("a tool is not begun when the signal has fired already", async () => {
    const start = vi.fn(says(["ran"]));
    const { complete } = await close(start, { signal: AbortSignal.abort() });
    expect(complete).toMatchObject({ output: "[interrupted]", stop_reason: "aborted" });
    expect(start).not.toHaveBeenCalled();
  });

  const ends = {
    "self-report": (): ToolResult => ({ stopReason: "failed" }),
    throw: (): never => fail(new Error("late")),
  };

  test.for(Object.entries(ends))("the time-out ranks above a %s (PT-033)", async ([, end]) => {
    const { complete } = await close(waits(end), { limits: { timeoutMs: 5 } });
    expect(complete).toMatchObject({ output: "half\n[timed out after 0.005 s]", stop_reason: "timeout" });
  });

  test.for(Object.entries(ends))("an interruption ranks above a %s (PT-033)", async ([, end]) => {
    const controller = new AbortController();
    const stream = closeOut(execution(waits(end), { signal: controller.signal }));
    const { complete } = await collectOutput(abortAt(stream, "half", controller));
    expect(complete).toMatchObject({ output: "half\n[interrupted]", stop_reason: "aborted" });
  });

  test("an interruption ranks above the time-out (PT-033)", async () => {
    const controller = new AbortController();
    const tool = waits(() => controller.abort());
    const { complete } = await close(tool, { signal: controller.signal, limits: { timeoutMs: 5 } });
    expect(complete).toMatchObject({ output: "half\n[interrupted]", stop_reason: "aborted" });
  });

  test("a throw ranks above a self-report (PT-024, PT-033)", async () => {
    const reported = modelMessage({ type: "tool_call_output", role: "user", output: "x", tool_call_id: "call_1" });
    const { complete } = await close(async function* () {
      yield modelMessage({ ...reported.payload, stop_reason: "aborted" });
      throw new Error("boom");
    });
    expect(complete).toMatchObject({ output: "x\n[talk failed: boom]", stop_reason: "failed" });
  });

  test("the tool's own report stands when nothing ranks above it (PT-024)", async () => {
    for (const stopReason of ["completed", "failed", "aborted", "timeout"] as const) {
      expect((await close(says(["x"], { stopReason }))).complete).toMatchObject({
        output: "x",
        stop_reason: stopReason,
      });
    }
  });

  test("a time-out of zero or less is none, and one beyond what timers take does not fire at once (PT-078)", async () => {
    for (const timeoutMs of [0, -1, 2 ** 40, Number.POSITIVE_INFINITY]) {
      const { complete } = await close(
        async function* () {
          await new Promise((resolve) => setTimeout(resolve, 5));
          yield outputDelta("call_1", "done");
        },
        { limits: { timeoutMs } },
      );
      expect(complete).toMatchObject({ output: "done", stop_reason: "completed" });
    }
  });

  test("the time-out is 120 s unless a definition says otherwise (PT-077)", () => {
    expect(callLimits({}).timeoutMs).toBe(120_000);
    expect(callLimits({ timeoutMs: 5 }).timeoutMs).toBe(5);
    expect(callLimits({ timeoutMs: 0 })).not.toHaveProperty("timeoutMs");
  });

  test("a tool that ignores its signal is left behind after the grace; what comes later changes nothing", async () => {
    let goOn: (() => void) | undefined;
    const tool: Script = async function* () {
      yield outputDelta("call_1", "half");
      await new Promise<void>((resolve) => (goOn = resolve));
      yield outputDelta("call_1", "late");
      throw new Error("later still");
    };
    const { complete } = await close(tool, { limits: { timeoutMs: 5 }, graceMs: 5 });
    goOn?.();
    await new Promise((resolve) => setImmediate(resolve));
    expect(complete).toMatchObject({
      output: "half\n[timed out after 0.005 s; it did not stop within 0.005 s, its effect is unknown]",
      stop_reason: "timeout",
    });
  });

  test("a tool that yields without ever waiting is stopped by its time-out", async () => {
    const { complete } = await close(
      async function* () {
        for (;;) yield outputDelta("call_1", "y");
      },
      { limits: { timeoutMs: 20, maxOutputLength: 3 }, graceMs: 20 },
    );
    expect(complete.output).toMatch(/^yyy\n\[\.\.\. \d+ characters omitted \.\.\.\]\n\[timed out after 0\.02 s; /);
    expect(complete.stop_reason).toBe("timeout");
  });

  test("a consumer that breaks off aborts the tool, and no listener stays on its signal", async () => {
    const controller = new AbortController();
    const removed = vi.spyOn(controller.signal, "removeEventListener");
    let toolSignal: AbortSignal | undefined;
    const tool: Script = async function* (signal) {
      toolSignal = signal;
      for (;;) yield outputDelta("call_1", "more");
    };
    for await (const message of closeOut(execution(tool, { signal: controller.signal }))) {
      if (message.payload.type === "partial_tool_call_output" && message.payload.output === "more") break;
    }
    expect(toolSignal?.aborted).toBe(true);
    expect(removed).toHaveBeenCalledOnce();
  });
});

describe("truncation", () => {
  test("output longer than 16000 characters keeps its head and loses the rest (PT-032, PC-075)", async () => {
    const { complete } = await close(says(["x".repeat(10_000), "y".repeat(10_000)]));
    expect(complete.output).toBe(`${"x".repeat(10_000)}${"y".repeat(6_000)}\n[... 4000 characters omitted ...]`);
    expect((await close(says(["x".repeat(16_000)]))).complete.output).toBe("x".repeat(16_000));
  });

  test("a cap of zero or less is none (PT-079)", async () => {
    for (const maxOutputLength of [0, -1]) {
      const { complete } = await close(says(["x".repeat(20_000)]), { limits: { maxOutputLength } });
      expect(complete.output).toBe("x".repeat(20_000));
    }
  });

  test("head_tail shows a quarter head, the marker, three quarters tail, then the note", async () => {
    const { complete, deltas } = await close(says(["0123", "456789", "abcdef"], { note: "exit code 1" }), {
      limits: { maxOutputLength: 8, truncation: "head_tail" },
    });
    expect(complete.output).toBe("01\n[... 8 characters omitted ...]\nabcdef\nexit code 1");
    expect(deltas[0]).toBe("01");
  });

  test("note and images are whole although the text was cut (PT-035, PT-036)", async () => {
    const note = `exit code 1 ${"!".repeat(50)}`;
    const images = [`data:image/png;base64,${"A".repeat(52)}`];
    const { complete } = await close(says(["0123456789"], { note, images }), { limits: { maxOutputLength: 4 } });
    expect(complete).toMatchObject({ output: `0123\n[... 6 characters omitted ...]\n${note}`, images });
  });

  test("marker, archive note, note and end stand in this order, and joined deltas are the output (PT-037, PT-038)", async () => {
    const { complete } = await close(
      async function* () {
        yield outputDelta("call_1", "0123456789");
        throw new Error("boom");
      },
      { limits: { maxOutputLength: 4 }, scratchpadDir: await scratchpad() },
    );
    expect(complete.output.split("\n")).toEqual([
      "0123",
      "[... 6 characters omitted ...]",
      expect.stringMatching(/^\[output truncated: 10 characters in all; full text saved to \/.*\.log\]$/),
      "[talk failed: boom]",
    ]);
  });

  test("joined deltas equal the complete output for any tool, cap and mode", async () => {
    const piece = fc.string({ unit: fc.constantFrom("a", "é", "😀", "\ud83d", "\ude00", "\n"), maxLength: 12 });
    const tool = fc.record({
      pieces: fc.array(piece, { maxLength: 8 }),
      end: fc.constantFrom<() => ToolResult | undefined>(
        () => undefined,
        () => ({ note: "note", images: ["data:image/png;base64,AA=="] }),
        () => ({ stopReason: "failed", note: "line\n" }),
        () => fail(new Error("boom")),
      ),
    });
    const limits = fc.record({
      maxOutputLength: fc.integer({ min: -1, max: 30 }),
      truncation: fc.constantFrom("head" as const, "head_tail" as const),
    });
    await fc.assert(
      fc.asyncProperty(tool, limits, async ({ pieces, end }, limits) => {
        const { complete } = await close(
          async function* () {
            for (const text of pieces) yield outputDelta("call_1", text);
            return end();
          },
          { limits },
        );
        expect(complete.output).not.toMatch(/\p{Surrogate}/u);
      }),
    );
  });

  test("bytes that are plain give the same output and the same archive as text", async () => {
    const piece = fc.string({ unit: fc.constantFrom("a", "b", "\n"), maxLength: 12 });
    const pieces = fc.array(fc.record({ text: piece, asBytes: fc.boolean() }), { maxLength: 12 });
    const truncation = fc.constantFrom("head" as const, "head_tail" as const);
    await fc.assert(
      fc.asyncProperty(pieces, truncation, async (pieces, truncation) => {
        const results = [false, true].map(async (bytesAllowed) => {
          const scratchpadDir = await scratchpad();
          const { complete } = await close(
            async function* () {
              for (const { text, asBytes } of pieces) {
                yield outputDelta("call_1", asBytes && bytesAllowed ? [Buffer.from(text), "é"] : `${text}é`);
              }
            },
            { limits: { maxOutputLength: 20, truncation }, scratchpadDir },
          );
          const archive = /saved to (.*)\]/.exec(complete.output)?.[1];
          return {
            output: complete.output.replaceAll(scratchpadDir, ""),
            archive: archive === undefined ? undefined : await readFile(archive, "utf8"),
          };
        });
        const [asText, mixed] = await Promise.all(results);
        expect(mixed).toEqual(asText);
      }),
      { numRuns: 50 },
    );
  });

  test("a long stream of small deltas is taken without keeping or showing more than the cap", async () => {
    const small = outputDelta("call_1", "0123456789abcdef".repeat(4));
    const { complete, messages } = await close(
      async function* () {
        for (let i = 0; i < 100_000; i++) yield small;
      },
      { limits: { truncation: "head_tail" } },
    );
    expect(complete.output).toHaveLength(16_000 + "\n[... 6384000 characters omitted ...]\n".length);
    expect(messages.length).toBeLessThan(100);
  });
});

describe("archive", () => {
  const limits = { maxOutputLength: 4 };
  const fileName = `talk-${createHash("sha256").update("call_1").digest("hex").slice(0, 16)}.log`;

  test("cut text is saved whole and unredacted for the user alone, and the note ends with its path (PT-039 to PT-041, PT-044, PT-049, PT-054, PT-056, PT-063, PC-059)", async () => {
    const scratchpadDir = await scratchpad();
    const { complete } = await close(says(["0123", "password=hunter2"]), { limits, scratchpadDir });
    const path = join(scratchpadDir, "truncated-tool-output", fileName);
    expect(complete.output).toBe(
      `0123\n[... 16 characters omitted ...]\n[output truncated: 20 characters in all; full text saved to ${path}]`,
    );
    expect(isAbsolute(path)).toBe(true);
    expect(await readFile(path, "utf8")).toBe("0123password=hunter2");
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect((await stat(join(scratchpadDir, "truncated-tool-output"))).mode & 0o777).toBe(0o700);
  });

  test("a producer's own marker for what it dropped is archived as it came (PT-045)", async () => {
    const scratchpadDir = await scratchpad();
    const text = "[..., 12 chars of earlier output dropped ...]\nrest";
    await close(says([text]), { limits, scratchpadDir });
    expect(await readFile(join(scratchpadDir, "truncated-tool-output", fileName), "utf8")).toBe(text);
  });

  test("nothing appears on disk as long as nothing was cut (PT-055)", async () => {
    const scratchpadDir = await scratchpad();
    const long = { note: "n".repeat(100), images: ["data:image/png;base64,AA=="] };
    expect((await close(says(["0123"], long), { limits, scratchpadDir })).complete.output).not.toContain("truncated");
    expect(await readdir(scratchpadDir)).toEqual([]);
  });

  test("without a scratchpad output is cut and nothing is stored (PC-064)", async () => {
    const { complete } = await close(says(["0123456789"]), { limits });
    expect(complete.output).toBe("0123\n[... 6 characters omitted ...]");
  });

  test("text over 8 MiB is saved as head and tail, and the note says so (PT-042, PT-057)", async () => {
    const scratchpadDir = await scratchpad();
    const { complete } = await close(says(["x".repeat(9 * 1024 * 1024), "END"]), { limits, scratchpadDir });
    const path = join(scratchpadDir, "truncated-tool-output", fileName);
    expect(complete.output).toContain(
      `[output truncated: 9437187 characters in all; its beginning and its end saved to ${path}]`,
    );
    const saved = await readFile(path, "latin1");
    expect(saved.length).toBeLessThan(8 * 1024 * 1024);
    expect(saved).toMatch(/^x+\n\[\.\.\. \d+ bytes missing here \.\.\.\]\nx+END$/);
  });

  test("calls that are cut at the same time each have a file of their own, without a common limit (PT-059, PT-060)", async () => {
    const scratchpadDir = await scratchpad();
    const text = "x".repeat(3 * 1024 * 1024);
    const ids = ["call_1", "call_2", "call_3", "call_4"];
    await Promise.all(ids.map((id) => close(says([text, id]), { limits, scratchpadDir, toolCallId: id })));
    const directory = join(scratchpadDir, "truncated-tool-output");
    const saved = await Promise.all(
      (await readdir(directory)).map((file) => readFile(join(directory, file), "latin1")),
    );
    expect(saved.map((content) => content.replace(text, "")).sort()).toEqual(ids);
  });

  test("a failed write leaves the stop reason and shows a short code, without path or raw message (PT-067, PT-068, PT-069)", async () => {
    const file = join(await scratchpad(), "file");
    await writeFile(file, "");
    const warnings: unknown[] = [];
    const { complete } = await close(says(["0123456789"], { stopReason: "failed" }), {
      limits,
      scratchpadDir: file,
      onWarning: (warning) => warnings.push(warning),
    });
    expect(complete).toMatchObject({
      output:
        "0123\n[... 6 characters omitted ...]\n[output truncated: 10 characters in all; the full text could not be saved: ENOTDIR]",
      stop_reason: "failed",
    });
    expect(warnings).toEqual([{ code: "archive-failed", message: "the full output of talk was not saved: ENOTDIR" }]);
  });

  test("an existing file is never written over, and a planted link is not followed", async () => {
    const scratchpadDir = await scratchpad();
    await close(says(["0123456789"]), { limits, scratchpadDir });
    const again = await close(says(["other text"]), { limits, scratchpadDir });
    expect(again.complete.output).toContain("could not be saved: EEXIST]");
    expect(await readFile(join(scratchpadDir, "truncated-tool-output", fileName), "utf8")).toBe("0123456789");

    const elsewhere = await scratchpad();
    const planted = await scratchpad();
    await symlink(elsewhere, join(planted, "truncated-tool-output"));
    const linked = await close(says(["0123456789"]), { limits, scratchpadDir: planted });
    expect(linked.complete.output).toContain("could not be saved: ELOOP]");
    expect(await readdir(elsewhere)).toEqual([]);
  });

  test("a directory that cannot be written gives its code", async () => {
    const scratchpadDir = await scratchpad();
    await mkdir(join(scratchpadDir, "truncated-tool-output"));
    await chmod(join(scratchpadDir, "truncated-tool-output"), 0o500);
    becomeOrdinaryUser(scratchpadDir);
    const { complete } = await close(says(["0123456789"]), { limits, scratchpadDir });
    expect(complete.output).toContain("could not be saved: EACCES]");
  });

  test("an abort while the archive is being written does not relabel a finished tool", async () => {
    const controller = new AbortController();
    const tool: Script = async function* () {
      yield outputDelta("call_1", "0123456789");
      // Fires in the midst of the archive's work, after the tool has returned.
      setImmediate(() => controller.abort());
    };
    const { complete } = await close(tool, { limits, scratchpadDir: await scratchpad(), signal: controller.signal });
    expect(controller.signal.aborted).toBe(true);
    expect(complete.stop_reason).toBe("completed");
  });

  test("a tool name that is no file name is made one", async () => {
    const scratchpadDir = await scratchpad();
    await close(says(["0123456789"]), { limits, scratchpadDir, toolName: "../../etc/x y" });
    const [file] = await readdir(join(scratchpadDir, "truncated-tool-output"));
    expect(file).toMatch(/^______etc_x_y-[0-9a-f]{16}\.log$/);
  });
});

/** Passes a stream on and fires the signal when this text was seen. */
async function* abortAt(
  stream: AsyncGenerator<OmniMessage>,
  text: string,
  controller: AbortController,
): AsyncGenerator<OmniMessage> {
  for await (const message of stream) {
    yield message;
    const { payload } = message;
    if (payload.type !== "partial_tool_call_output" || payload.output !== text) continue;
    // Once the tool waits for its signal.
    setImmediate(() => controller.abort("enough"));
  }
}
