import { EventEmitter } from "node:events";
import { PassThrough, Readable, Writable } from "node:stream";
import type { Io } from "../../src/io.ts";

/** A process made of buffers. */
export interface FakeIo extends Io {
  readonly stdin: PassThrough & { isTTY?: boolean; setRawMode?(on: boolean): void };
  readonly signals: EventEmitter;
  /** What was written so far. */
  out(): string;
  err(): string;
  /** Codes of `exit`. */
  readonly exits: number[];
}

/** @param options.stdin - All of standard input; absent: it stays open. */
export function fakeIo(
  options: {
    stdin?: string | Uint8Array | Iterable<Uint8Array>;
    isTTY?: boolean;
    columns?: number;
    env?: NodeJS.ProcessEnv;
    cwd?: string;
  } = {},
): FakeIo {
  const { isTTY = false, columns = 60 } = options;
  const stdin = Object.assign(new PassThrough(), { isTTY });
  const input = options.stdin;
  if (typeof input === "string" || input instanceof Uint8Array) stdin.end(input);
  else if (input !== undefined) Readable.from(input).pipe(stdin);
  const stdout = Object.assign(new Collector(), { isTTY, columns });
  const stderr = Object.assign(new Collector(), { isTTY, columns });
  const exits: number[] = [];
  return {
    stdin,
    stdout,
    stderr,
    env: options.env ?? {},
    cwd: options.cwd ?? process.cwd(),
    signals: new EventEmitter(),
    exit: (code) => void exits.push(code),
    out: () => stdout.text,
    err: () => stderr.text,
    exits,
  };
}

class Collector extends Writable {
  text = "";

  override _write(chunk: Buffer, _encoding: string, callback: () => void): void {
    this.text += chunk.toString("utf8");
    callback();
  }
}

/** Resolves when the text written to a stream holds `part`. */
export async function written(read: () => string, part: string): Promise<void> {
  while (!read().includes(part)) await new Promise((resolve) => setImmediate(resolve));
}
