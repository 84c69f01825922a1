import type { ServerResponse } from "node:http";
import { setImmediate, setTimeout } from "node:timers/promises";
import type { ProviderFault } from "./faults.ts";
import type { WireEvent, WireReply } from "./wire-protocol.ts";

/**
 * Writes a reply with its fault, and resolves when the server has done its part or the client has left.
 *
 * @param errorEvent - The event of a fault that has one.
 */
export async function deliver(
  response: ServerResponse,
  reply: WireReply,
  fault: ProviderFault | undefined,
  errorEvent: WireEvent | undefined,
): Promise<void> {
  if (fault?.kind === "reset" && fault.afterEvents === undefined) return reset(response);
  const { events, end } = planOf(reply, fault, errorEvent);
  response.socket?.setNoDelay(true);
  response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" });
  response.flushHeaders();
  const frames = events.map((event) => Buffer.from(frameOf(event, fault)));
  for (const chunk of chunksOf(frames, fault)) await write(response, chunk);
  if (end === "end") response.end();
  else if (end === "reset") reset(response);
  else if (end === "heartbeats") await beat(response);
}

interface StreamPlan {
  readonly events: readonly WireEvent[];
  /** `silence` leaves the connection as it is. */
  readonly end: "end" | "reset" | "silence" | "heartbeats";
}

function planOf(
  { content, closing }: WireReply,
  fault: ProviderFault | undefined,
  errorEvent: WireEvent | undefined,
): StreamPlan {
  const begun = fault && "afterEvents" in fault ? content.slice(0, fault.afterEvents) : content;
  switch (fault?.kind) {
    case "reset":
    case "silence":
      return { events: begun, end: fault.kind };
    case "early-end":
      return { events: begun, end: "end" };
    case "error-event":
      return { events: errorEvent ? [...begun, errorEvent] : begun, end: "end" };
    case "ignores-abort":
      return { events: content, end: "heartbeats" };
    case "bad-json":
      return { events: [...halved(content, fault.atEvent ?? content.length), ...closing], end: "end" };
    default:
      return { events: [...content, ...closing], end: "end" };
  }
}

function halved(events: readonly WireEvent[], at: number): WireEvent[] {
  const broken = Math.min(at, events.length - 1);
  return events.map((event, i) => {
    return i === broken ? { ...event, data: event.data.slice(0, event.data.length / 2) } : event;
  });
}

function frameOf({ name, data }: WireEvent, fault: ProviderFault | undefined): string {
  const lines = [
    ...(fault?.kind === "heartbeats" ? [HEARTBEAT, ""] : []),
    ...(name === undefined ? [] : [`event: ${name}`]),
  ];
  return [...lines, `data: ${data}`, "", ""].join(fault?.kind === "crlf" ? "\r\n" : "\n");
}

const HEARTBEAT = ": heartbeat";

function chunksOf(frames: readonly Buffer[], fault: ProviderFault | undefined): readonly Buffer[] {
  if (fault?.kind === "byte-chunks") return cut(Buffer.concat(frames), (_, at) => at % fault.bytes === 0);
  // A byte 10xxxxxx goes on with a character.
  if (fault?.kind === "split-characters") return cut(Buffer.concat(frames), (byte) => (byte & 0xc0) === 0x80);
  return frames;
}

/** Pieces of the bytes, each beginning where `begins` says. */
function cut(bytes: Buffer, begins: (byte: number, at: number) => boolean): Buffer[] {
  const starts = [0, ...[...bytes.keys()].filter((at) => at > 0 && begins(bytes[at] ?? 0, at))];
  return starts.map((start, i) => bytes.subarray(start, starts[i + 1]));
}

/** Waits until the bytes have left, so that they arrive apart; a client that has gone is no error. */
async function write(response: ServerResponse, chunk: Buffer | string): Promise<void> {
  if (response.destroyed) return;
  await new Promise<void>((resolve) => response.write(chunk, () => resolve()));
  await setImmediate();
}

async function beat(response: ServerResponse): Promise<void> {
  while (!response.destroyed) {
    await write(response, `${HEARTBEAT}\n\n`);
    await setTimeout(HEARTBEAT_MS, undefined, { ref: false });
  }
}

const HEARTBEAT_MS = 20;

function reset(response: ServerResponse): void {
  response.socket?.resetAndDestroy();
}
