import { RookeryError } from "@rookery/core";
import type { Io } from "./io.ts";
import { readInput } from "./read-input.ts";

/**
 * Gets a key without its being a flag: from standard input with `fromStdin`, else typed unseen at a terminal.
 *
 * @returns Absent when nobody sits at a terminal, or nothing was typed.
 * @throws {RookeryError} `usage` when standard input was to hold a key and holds none.
 */
export async function readSecret(label: string, fromStdin: boolean, io: Io): Promise<string | undefined> {
  if (!fromStdin) return io.stdin.isTTY ? (await typedUnseen(label, io)) || undefined : undefined;
  const secret = (await readInput("-", io)).trim();
  if (secret !== "" && !/\s/.test(secret)) return secret;
  throw new RookeryError("usage", `standard input holds ${secret === "" ? "no key" : "more than a key"}`, {
    hint: 'pass the key alone, as in: printf %s "$KEY" | rookery config model add … --key-stdin',
  });
}

/** Ctrl-C throws an `AbortError`; Ctrl-D ends the input as Enter does. */
async function typedUnseen(label: string, io: Io): Promise<string> {
  io.stderr.write(`${label}: `);
  io.stdin.setRawMode?.(true);
  let typed = "";
  try {
    for await (const chunk of io.stdin) {
      for (const character of String(chunk)) {
        if (character === "\r" || character === "\n" || character === "\x04") return typed.trim();
        if (character === "\x03") throw new DOMException("interrupted", "AbortError");
        typed = character === "\x7f" || character === "\b" ? typed.slice(0, -1) : typed + character;
      }
    }
    return typed.trim();
  } finally {
    io.stdin.setRawMode?.(false);
    io.stderr.write("\n");
  }
}
