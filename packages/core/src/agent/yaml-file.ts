import { constants, lstatSync } from "node:fs";
import { open } from "node:fs/promises";
import type { Document, LineCounter, Node } from "yaml";
import { errorCode, errorText } from "../errors/error-text.ts";
import { nearestWord } from "../errors/nearest-word.ts";
import { RookeryError } from "../errors/rookery-error.ts";
import { type Fields, fieldNames, type Shape, type ShapeProblem, shapeProblems } from "../omnimessage/shape.ts";
import { findNonJson } from "./non-json.ts";

/** A YAML file of configuration that fits its shape, ready to be edited with comments and order kept. */
export interface YamlFile {
  readonly file: string;
  /** Null contents for a file that is missing or empty. */
  readonly document: Document;
  readonly lines: LineCounter;
  /** The plain value; `{}` for a file that is missing or empty. */
  readonly value: unknown;
}

/** Far more than anybody writes by hand. */
const MAX_FILE_BYTES = 4 * 1024 * 1024;

/** Whether nothing is there; a file that cannot be reached counts as there, so that reading it says why. */
export function isMissing(file: string): boolean {
  try {
    return lstatSync(file, { throwIfNoEntry: false }) === undefined;
  } catch (error) {
    // Below a file there is nothing.
    return errorCode(error) === "ENOTDIR";
  }
}

/**
 * Reads a configuration file and checks it, unknown keys included.
 *
 * @throws {RookeryError} `config-invalid` naming file, line, key and the nearest valid word.
 */
export async function readYamlFile(file: string, shape: { readonly fields: Fields }): Promise<YamlFile> {
  const { LineCounter, parseDocument } = await import("yaml");
  const lines = new LineCounter();
  // Without pretty errors no excerpt of the file, which may hold keys, gets into a message.
  const options = { lineCounter: lines, prettyErrors: false, logLevel: "error" } as const;
  const document = parseDocument(await readText(file), options);
  const [broken] = document.errors;
  if (broken) {
    const line = lines.linePos(broken.pos[0]).line;
    throw new RookeryError("config-invalid", `${file}:${line}: not valid YAML: ${broken.message}`, {
      hint: "correct the file; it was left as it is",
    });
  }
  const yaml: YamlFile = { file, document, lines, value: plainValue(file, document) };
  const alien = findNonJson(yaml.value);
  if (alien) {
    const place = `${file}:${await lineOf(yaml, alien.steps)}`;
    throw new RookeryError("config-invalid", `${place}: ${alien.steps.join(".")} ${alien.message}`);
  }
  const [problem] = shapeProblems(shape, yaml.value, { unknownKeys: true });
  if (problem) throw await misfit(yaml, shape, problem);
  return yaml;
}

/**
 * The line of the value at a path such as `models[0].provider`, or of the nearest thing around it that is there.
 *
 * @param path - Or its steps, where a key may hold a dot or a bracket.
 */
export async function lineOf(yaml: YamlFile, path: string | readonly string[]): Promise<number> {
  const { isMap, isScalar, isSeq } = await import("yaml");
  let node: unknown = yaml.document.contents;
  let offset = 0;
  for (const step of typeof path === "string" ? pathSteps(path) : path) {
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === step);
      if (pair === undefined) break;
      offset = start(pair.key as Node) ?? offset;
      node = pair.value;
    } else if (isSeq(node)) {
      node = node.items[Number(step)];
      offset = start(node as Node) ?? offset;
    } else break;
  }
  return yaml.lines.linePos(offset).line;
}

async function readText(file: string): Promise<string> {
  try {
    // Without O_NONBLOCK a named pipe would wait for a writer.
    const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const stats = await handle.stat();
      if (stats.isFIFO() || stats.isCharacterDevice()) throw new Error("it is not a regular file");
      if (stats.size > MAX_FILE_BYTES) throw new Error(`it is larger than ${MAX_FILE_BYTES} bytes`);
      return await handle.readFile("utf8");
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (errorCode(error) === "ENOENT") return "";
    throw new RookeryError("config-invalid", `cannot read ${file}: ${errorCode(error) ?? errorText(error)}`, {
      hint: "make it a file that you may read",
      cause: error,
    });
  }
}

/** Aliases are resolved within yaml's own bound, past which it throws. */
function plainValue(file: string, document: Document): unknown {
  try {
    return document.toJS() ?? {};
  } catch (error) {
    throw new RookeryError("config-invalid", `${file}: not usable YAML: ${errorText(error)}`, { cause: error });
  }
}

async function misfit(yaml: YamlFile, shape: Shape, problem: ShapeProblem): Promise<RookeryError> {
  const { path } = problem;
  const message = isSecret(path) ? problem.message.replace(/, got .*$/s, "") : problem.message;
  const known = knownKeys(shape, pathSteps(path).slice(0, -1));
  const nearest = nearestWord(pathSteps(path).at(-1) ?? "", known);
  const unknown = message === "is not a known key";
  const place = `${yaml.file}:${await lineOf(yaml, path)}`;
  const hint = nearest ? `did you mean ${nearest}?` : `use one of ${known.join(", ")}`;
  return new RookeryError("config-invalid", `${place}: ${path === "" ? message : `${path} ${message}`}`, {
    ...(unknown && { hint }),
  });
}

/** The keys an object at this place may have. */
function knownKeys(shape: Shape, steps: readonly string[]): string[] {
  let at: Shape | undefined = shape;
  for (const step of steps) {
    if (typeof at !== "object") return [];
    if ("list" in at) at = at.list;
    else if ("map" in at && typeof at.map !== "function") at = at.map;
    else if ("fields" in at) at = at.fields[step] ?? at.fields[`${step}?`];
  }
  return typeof at === "object" && "fields" in at ? fieldNames(at.fields) : [];
}

function isSecret(path: string): boolean {
  return /(^|\.)(api_key|headers|mcpServers)\b/.test(path);
}

function pathSteps(path: string): string[] {
  return path.split(/[.[\]]+/).filter((step) => step !== "");
}

function start(node: Node | null | undefined): number | undefined {
  return node?.range?.[0];
}
