import { resolve } from "node:path";
import { isType } from "../omnimessage/guards.ts";
import type { OmniMessage } from "../omnimessage/message.ts";
import type { AgentTool, AgentToolResult, AgentToolUpdateCallback } from "./agent-tool.ts";
import type { ToolResult } from "./contract.ts";
import { OutputWindow } from "./output-window.ts";
import type { BuiltinTool, CallTraits } from "./tool.ts";

/** How a built-in tool is presented as an AgentTool. */
interface Presentation<TParameters extends object> {
  readonly label: string;
  readonly parameters: TParameters;
  /** What relative paths start from; default, at each call: the process's own directory. */
  readonly cwd: string | undefined;
  /** See `ToolDefinitionConfig`. */
  readonly timeoutMs?: number;
}

/** Of the text of one call; what an environment makes of it is its own matter. */
const MAX_TEXT_CHARS = 256 * 1024;

/**
 * Makes an AgentTool of a built-in tool, so that it can be called outside any session.
 *
 * A call that was aborted or ran out of time rejects; any other failure is a result with `isError`.
 */
export function toAgentTool<TParameters extends object, TDetails>(
  tool: BuiltinTool,
  presentation: Presentation<TParameters>,
): AgentTool<TParameters, TDetails> {
  const { cwd, ...shown } = presentation;
  const { name, definition } = tool;
  const { description, maxOutputLength, truncation } = definition;
  return {
    name,
    description,
    ...(maxOutputLength !== undefined && { maxOutputLength }),
    ...(truncation !== undefined && { truncation }),
    ...shown,
    ...traitsIn(tool, cwd),
    async execute(toolCallId, params, signal, onUpdate) {
      const context = { workspaceDir: resolve(cwd ?? "."), toolCallId, ...(signal && { signal }) };
      const call = new Call<TDetails>(truncation ?? "head", onUpdate);
      const run = tool.execute({ ...params }, context);
      try {
        for (let step = await run.next(); ; step = await run.next()) {
          if (step.done) return call.end(step.value ?? {}, signal);
          call.take(step.value);
        }
      } finally {
        // A listener that throws gives the call up.
        await run.return(undefined);
      }
    },
  };
}

/** The tool's traits as they are when it works in its own directory, whatever the workspace is. */
function traitsIn(tool: BuiltinTool, cwd: string | undefined): Omit<CallTraits, "prepareArguments" | "assessState"> {
  const { risk, executionMode } = tool;
  const here = (): string => resolve(cwd ?? ".");
  const absolute = (paths: readonly string[]): string[] => paths.map((path) => resolve(here(), path));
  return {
    ...(risk !== undefined && { risk }),
    ...(executionMode !== undefined && { executionMode }),
    ...(tool.commandText && { commandText: tool.commandText.bind(tool) }),
    ...(tool.assessRisk && {
      assessRisk: (args, context) => tool.assessRisk?.(args, { ...context, workspaceDir: here() }) ?? "process",
    }),
    ...(tool.approvalSummary && {
      approvalSummary: (args, context) => tool.approvalSummary?.(args, { ...context, workspaceDir: here() }) ?? "",
    }),
    ...(tool.paths && {
      paths: (args) => {
        const { read, write } = tool.paths?.(args) ?? {};
        return { ...(read && { read: absolute(read) }), ...(write && { write: absolute(write) }) };
      },
    }),
  };
}

/** What one call has said so far. */
class Call<TDetails> {
  readonly #window: OutputWindow;
  readonly #onUpdate: AgentToolUpdateCallback<TDetails> | undefined;
  readonly #shown: string[] = [];

  constructor(truncation: "head" | "head_tail", onUpdate: AgentToolUpdateCallback<TDetails> | undefined) {
    this.#window = new OutputWindow(MAX_TEXT_CHARS, truncation);
    this.#onUpdate = onUpdate;
  }

  take(message: OmniMessage): void {
    if (isType(message, "partial_tool_call_output")) this.#shown.push(this.#window.push(message.payload.output));
    if (isType(message, "tool_progress")) this.#onUpdate?.({ content: [textBlock(message.payload.text ?? "")] });
  }

  /** @throws When the call was stopped. */
  end(result: ToolResult, signal: AbortSignal | undefined): AgentToolResult<TDetails> {
    const { stopReason = "completed", note = "", images = [], details } = result;
    const text = withLine(this.#text(), note);
    if (stopReason === "aborted" || stopReason === "timeout") {
      signal?.throwIfAborted();
      throw new DOMException(text, stopReason === "timeout" ? "TimeoutError" : "AbortError");
    }
    return {
      content: [...(text === "" && images.length > 0 ? [] : [textBlock(text)]), ...images.map(imageBlock)],
      ...(details !== undefined && { details: details as TDetails }),
      ...(stopReason !== "completed" && { isError: true }),
    };
  }

  #text(): string {
    const { text, omittedChars } = this.#window.end();
    const head = this.#shown.join("");
    return omittedChars === 0
      ? head + text
      : withLine(withLine(head, `[... ${omittedChars} characters omitted ...]`), text);
  }
}

function withLine(text: string, line: string): string {
  return text === "" || line === "" || text.endsWith("\n") ? text + line : `${text}\n${line}`;
}

function textBlock(text: string): AgentToolResult["content"][number] {
  return { type: "text", text };
}

function imageBlock(dataUrl: string): AgentToolResult["content"][number] {
  const [head = "", data = ""] = dataUrl.split(";base64,");
  return { type: "image", data, mimeType: head.slice("data:".length) };
}
