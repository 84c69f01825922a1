import { FileProblem } from "./file-problem.ts";

type Args = Readonly<Record<string, unknown>>;

/** A required argument. @throws {FileProblem} it is absent or not a string. */
export function textArgument(args: Args, name: string): string {
  const value = args[name];
  if (typeof value === "string") return value;
  throw new FileProblem(`${name} must be a string, got ${JSON.stringify(value) ?? "nothing"}`);
}

/** The path of a file that is to be written. @throws {FileProblem} it is no string, or names a directory. */
export function filePathArgument(args: Args, name: string): string {
  const path = textArgument(args, name);
  if (!/\/\.{0,2}$/.test(path)) return path;
  throw new FileProblem("the path names a directory; name a file, and its parent directories are created");
}

/** An argument that may be left out. @throws {FileProblem} it is there and not a string. */
export function optionalTextArgument(args: Args, name: string): string | undefined {
  return args[name] === undefined ? undefined : textArgument(args, name);
}

/** A line number or count, at least 1; smaller ones count as 1. @throws {FileProblem} it is there and no whole number. */
export function lineArgument(args: Args, name: string, fallback: number): number {
  const value = args[name] ?? fallback;
  if (typeof value === "number" && Number.isInteger(value)) return Math.max(1, value);
  throw new FileProblem(`${name} must be a whole number, got ${JSON.stringify(value)}`);
}

/** An offset or a number of bytes. @throws {FileProblem} it is there and no whole number between `min` and `max`. */
export function byteArgument(args: Args, name: string, range: { min: number; max: number; fallback: number }): number {
  const { min, max, fallback } = range;
  const value = args[name] ?? fallback;
  if (typeof value === "number" && Number.isInteger(value) && value >= min && value <= max) return value;
  throw new FileProblem(`${name} must be a whole number from ${min} to ${max}, got ${JSON.stringify(value)}`);
}
