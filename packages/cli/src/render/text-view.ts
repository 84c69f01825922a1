import {
  isType,
  type OmniMessage,
  type PartialToolCallPayload,
  type ToolCallPayload,
  type ToolDefinition,
} from "@rookery/core";
import type { Io } from "../io.ts";
import type { OutputStream } from "../output-stream.ts";
import { notice } from "../report-error.ts";
import { reportLine } from "./background-line.ts";
import { compactionLine } from "./compaction-line.ts";
import { folded, foldedEnd } from "./fold.ts";
import { goalLine } from "./goal-line.ts";
import { streamedHeading, toolHeading } from "./heading.ts";
import { neutralise } from "./neutralise.ts";
import { canErase, ProgressLine } from "./progress-line.ts";
import { retryLine } from "./retry-line.ts";
import type { View } from "./view.ts";

/** A heading has no room for more of the arguments. */
const MAX_ARRIVING_CHARS = 1000;

/**
 * A run for a person. At a terminal everything is shown where it happens: text as it streams, thinking dimmed, calls as
 * headings while their arguments arrive, results folded, and below what runs the last line it printed. Elsewhere standard output holds the model's text alone, and headings go to standard error;
 * the text of a request is held until that has completed, so that nothing of an attempt that is repeated gets there. Of
 * a run that ends otherwise the text of its last attempt follows at the end.
 *
 * Nothing is kept of what was shown but the tools, the open calls and whether a line is open, so that a delta costs the
 * same however long the run is.
 */
export function textView(io: Io, stdout: OutputStream): View {
  const isTerminal = io.stdout.isTTY === true;
  const isStyled = isTerminal && !io.env.NO_COLOR && io.env.TERM !== "dumb";
  const isErasable = canErase(io.stdout, io.env);
  const columns = (): number => io.stdout.columns || 80;
  const dim = (text: string): string => (isStyled ? `\x1b[2m${text}\x1b[22m` : text);
  const progress = new ProgressLine(columns, dim);
  const tools = new Map<string, ToolDefinition>();
  const calls = new Map<string, ToolCallPayload>();
  let arriving: { readonly name: string; text: string } = { name: "", text: "" };
  let held: string[] = [];
  let isLineOpen = false;
  let lastHeading: string | undefined;
  /** The latest reply made a call. */
  let hasCalled = false;
  let isCompacting = false;

  const write = (text: string): Promise<void> | undefined => {
    if (isTerminal) return stdout.write(progress.erase() + text);
    held.push(text);
    return undefined;
  };
  const release = (): Promise<void> | undefined => {
    const text = held.join("");
    held = [];
    return stdout.write(text);
  };
  const stream = (text: string, style: (text: string) => string = (plain) => plain): Promise<void> | undefined => {
    if (text === "") return undefined;
    isLineOpen = !text.endsWith("\n");
    lastHeading = undefined;
    return write(style(neutralise(text)));
  };
  const endLine = (): Promise<void> | undefined => {
    if (!isLineOpen) return undefined;
    isLineOpen = false;
    return write("\n");
  };
  const talk = (lines: readonly string[]): Promise<void> | undefined => {
    const text = lines.map((line) => `${line}\n`).join("");
    if (!isTerminal) {
      io.stderr.write(text);
      return undefined;
    }
    endLine();
    return stdout.write(progress.erase() + text);
  };
  const heading = (call: ToolCallPayload): Promise<void> | undefined => {
    lastHeading = call.tool_call_id;
    return talk([toolHeading(call, tools.get(call.name), columns())]);
  };
  const arrive = ({ event_type, name, arguments: text }: PartialToolCallPayload): Promise<void> | undefined => {
    if (event_type === "start") arriving = { name, text: "" };
    if (event_type === "stop" || isLineOpen || arriving.text.length > MAX_ARRIVING_CHARS) return undefined;
    arriving.text += text;
    const line = streamedHeading(arriving.name, arriving.text, tools.get(arriving.name), columns() - 1);
    return stdout.write(progress.replace(line));
  };
  const result = (id: string, output: string, failure: string | undefined): Promise<void> | undefined => {
    const call = calls.get(id);
    calls.delete(id);
    if (call === undefined || (!isTerminal && failure === undefined)) return undefined;
    // Calls run side by side: a result that does not follow its own heading gets it again.
    if (lastHeading !== id) heading(call);
    lastHeading = undefined;
    if (!isTerminal) return talk([`  ${failure}: ${reasonIn(output, columns())}`]);
    const lines = (failure === undefined ? folded : foldedEnd)(output, columns() - 2).map((line) => dim(`  ${line}`));
    return talk(failure === undefined ? lines : [`  ${failure}`, ...lines]);
  };

  return {
    show(message: OmniMessage) {
      if (message.origin !== undefined) return undefined;
      if (isType(message, "compaction_begin") || isType(message, "compaction_end")) {
        isCompacting = message.payload.type === "compaction_begin";
        const line = compactionLine(message);
        return line === undefined ? undefined : talk([line]);
      }
      // A summary is for the model.
      if (isCompacting) return undefined;
      if (isType(message, "partial_text")) {
        return message.payload.event_type === "stop" ? endLine() : stream(message.payload.text);
      }
      if (isType(message, "partial_thinking")) {
        if (!isTerminal) return undefined;
        return message.payload.event_type === "stop" ? endLine() : stream(message.payload.thinking, dim);
      }
      if (isType(message, "partial_tool_call") && isErasable) return arrive(message.payload);
      if (isType(message, "tool_progress") && isErasable) {
        // A line that the model has begun is not written over.
        return isLineOpen ? undefined : stdout.write(progress.show(message));
      }
      if (isType(message, "tool_list_ready")) {
        tools.clear();
        for (const tool of message.payload.tools) tools.set(tool.name, tool);
      } else if (isType(message, "tool_call")) {
        calls.set(message.payload.tool_call_id, message.payload);
        hasCalled = true;
        return heading(message.payload);
      } else if (isType(message, "tool_call_output")) {
        const { tool_call_id: id, output, stop_reason: stop } = message.payload;
        return result(id, output, stop === undefined || stop === "completed" ? undefined : stop);
      } else if (isType(message, "request_begin")) {
        hasCalled = false;
        if (isTerminal) return undefined;
        held = [];
        isLineOpen = false;
      } else if (isType(message, "request_end")) {
        if (message.payload.status === "completed") return release();
        const retry = retryLine(message, io);
        if (retry !== undefined) return talk([retry]);
      } else {
        const line = goalLine(message) ?? reportLine(message, columns());
        if (line !== undefined) return talk([line]);
      }
      return undefined;
    },
    end({ status, code, message, text }, hint) {
      endLine();
      stdout.write(progress.erase());
      release();
      if (status === "completed" && text.trim() === "" && !hasCalled) notice(io, "the model answered with nothing");
      if (status === "completed") return;
      const how = code === undefined ? status : `${status} (${code})`;
      const what = message === undefined ? how : `${how}: ${message}`;
      notice(io, hint === undefined ? what : `${what}; ${hint}`);
    },
  };
}

/** Why a call failed, on one line: the note of the tool at its end, else what it says first. */
function reasonIn(output: string, columns: number): string {
  const last = output.trimEnd().split("\n").at(-1) ?? "";
  return folded(/^\[.*\]$/.test(last) ? last : output, columns)[0]?.trim() ?? "";
}
