import { RookeryError } from "@rookery/core";
import type { Io } from "./io.ts";
import { readInput } from "./read-input.ts";

/**
 * Puts the prompt of a run together: the argument, and after a blank line what `file` holds (`-`: standard input). With
 * neither, standard input is the prompt, unless it is a terminal. With an argument alone standard input is not touched.
 * What `--resume` was given is named where the prompt may have been meant.
 *
 * @throws {RookeryError} `usage` when there is nothing to read, `input-empty` when it is blank, `input-too-large`.
 */
export async function readPrompt(
  argument: string | undefined,
  file: string | undefined,
  io: Io,
  resume?: string | true,
): Promise<string> {
  if (argument === "-") {
    throw new RookeryError("usage", "- is no prompt", { hint: "write --file - for standard input" });
  }
  if (argument === undefined && file === undefined && io.stdin.isTTY) {
    const instead = typeof resume === "string" ? `: ${JSON.stringify(resume)} is what --resume was given` : "";
    throw new RookeryError("usage", `run was given no prompt${instead}`, {
      hint: 'write it behind run: rookery run "PROMPT"',
    });
  }
  const source = file ?? (argument === undefined ? "-" : undefined);
  const read = source === undefined ? undefined : (await readInput(source, io)).trimEnd();
  const prompt = [argument, read].filter((part) => part !== undefined && part !== "").join("\n\n");
  if (prompt.trim() !== "") return prompt;
  throw new RookeryError("input-empty", "the prompt is empty", {
    hint: 'write one behind run, or pass it on standard input or with --file: rookery run "PROMPT"',
  });
}
