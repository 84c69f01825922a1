import { createInterface } from "node:readline";
import type { Io } from "./io.ts";
import { discardTyped } from "./prompt-approval.ts";

/**
 * Asks a person at the terminal, until the answer is `y` or `yes`, `n` or `no`; the end of the input is a no. What was typed
 * before the question does not count.
 *
 * @param question - Harmless to a terminal.
 */
export async function confirm(io: Io, question: string): Promise<boolean> {
  await discardTyped(io.stdin);
  if (io.stdin.readableEnded) return false;
  const lines = createInterface({ input: io.stdin, output: io.stderr, terminal: false });
  lines.setPrompt(`${question} Type y or n: `);
  lines.prompt();
  try {
    for await (const line of lines) {
      const answer = line.trim().toLowerCase();
      if (["y", "yes"].includes(answer)) return true;
      if (["n", "no"].includes(answer)) return false;
      lines.prompt();
    }
    io.stderr.write("\n");
    return false;
  } finally {
    lines.close();
  }
}
