import { tmpdir } from "node:os";
import { pathPattern } from "./path-pattern.ts";

/** What is different about one place and moment, beside the times and ids that differ everywhere. */
export interface Surroundings {
  readonly workspaceDirs: readonly string[];
  readonly agentDir: string;
}

/**
 * Makes outputs of two runs comparable: what differs from run to run by its nature becomes a word in angle brackets.
 * These are the given directories, temporary directories, dates, times, durations, ids and hashes in hexadecimal digits,
 * process ids and ports, and what a file system gives the entries of `ls -l` and `stat`: links, owners, inodes, widths.
 *
 * @param ignore - Further text that does not count.
 */
export function outputNormaliser(
  { workspaceDirs, agentDir }: Surroundings,
  ignore: readonly RegExp[] = [],
): (output: string) => string {
  const directories = [
    ...workspaceDirs.map((path) => ({ path, name: "<workspace>" })),
    { path: agentDir, name: "<agent>" },
  ]
    // One may lie inside the other.
    .sort((a, b) => b.path.length - a.path.length)
    .flatMap(({ path, name }) => replacement(pathPattern(path), name));
  const steps = [
    ...ignore.map((pattern): Step => [global(pattern), "<ignored>"]),
    ...directories,
    ...replacement(temporaryName(tmpdir()), "<temporary>"),
    ...LISTINGS,
    ...EVERYWHERE,
  ];
  return (output) => steps.reduce((text, [pattern, name]) => text.replace(pattern, name), output);
}

type Step = readonly [pattern: RegExp, name: string];

const MONTH = "(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)";
const CLOCK = "\\d{1,2}:\\d\\d(?::\\d\\d)?";
const ZONE = "(?: (?:[A-Z]{2,5}|[+-]\\d{4}))?";

/** A line of `ls -l`, with `-i` and `-s` too, up to its size: mode, links, owners, size. */
const LISTED = "^(?: *\\d+ ){0,2} *([bcdlps-][rwxsStT-]{9})[.+@]? +\\d+ +(?:\\S+ +){1,2}?";
const DATED = `(?= +(?:${MONTH} {1,2}\\d{1,2} {1,2}(?:\\d{4}|\\d\\d:\\d\\d)|\\d{4}-\\d\\d-\\d\\d) )`;

/** What belongs to the file system rather than to the files; the directory itself and the one above it wholly. */
const LISTINGS: readonly Step[] = [
  [/^total [\d.,]+[KMGT]?(?=\n(?: *\d+ ){0,2} *[bcdlps-][rwxsStT-]{9})/gm, "total <blocks>"],
  [new RegExp(`${LISTED}\\S+${DATED}.* (\\.\\.?)$`, "gm"), "<directory> $2"],
  [new RegExp(`${LISTED.replace("bcdlps-", "dl")}\\S+${DATED} +`, "gm"), "$1 <links> <owner> <size> "],
  [new RegExp(`${LISTED}(\\d+, +\\d+|\\S+)${DATED} +`, "gm"), "$1 <links> <owner> $2 "],
  [/\b(Inode|Links|Device): *\S+/g, "$1: <file system>"],
];

/** In this order: what a later one would take a part of comes first. */
const EVERYWHERE: readonly Step[] = [
  [/(?:\/private)?(?:\/var)?\/tmp\/[\w.+@%-]+/g, "<temporary>"],
  [/(?:\/private)?\/var\/folders\/\w+\/\w+\/\w\/[\w.+@%-]+/g, "<temporary>"],
  [/\bsession-\d{4}(?:-\d\d){5}-[0-9a-f]{8}\b/g, "<session>"],
  [/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/gi, "<uuid>"],
  [/\b(?:call|toolu)_[\w-]{6,}/g, "<call>"],
  [/\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?: ?(?:Z|[+-]\d\d:?\d\d))?)?/g, "<time>"],
  // `Mon, 30 Nov 2026 00:43:11 GMT`
  [new RegExp(`\\b(?:[A-Z][a-z]{2}, )?\\d{1,2} ${MONTH} \\d{4}(?: ${CLOCK}${ZONE})?`, "g"), "<time>"],
  // `Mon Nov 30 00:43:11 UTC 2026`, `Nov 30 00:43`, `Nov  3  2026`
  [
    new RegExp(`\\b(?:[A-Z][a-z]{2} )?${MONTH} {1,2}\\d{1,2} {1,2}(?:${CLOCK}${ZONE}(?: \\d{4})?|\\d{4})\\b`, "g"),
    "<time>",
  ],
  [/(?<![\w:.])\d{1,2}:\d\d:\d\d(?:[.,]\d+)?(?![\w:])/g, "<time>"],
  [/\b1[5-9]\d{8}(?:\d{3}(?:\d{6})?)?\b/g, "<time>"],
  [/\b\d+m\d+(?:\.\d+)?s\b/g, "<duration>"],
  [/(?<![\w.])\d+(?:\.\d+)? ?(?:ns|µs|us|ms|s|secs?|seconds?|mins?|minutes?|hours?)\b/g, "<duration>"],
  [/\b((?:duration|elapsed)\w*["']?[ :=]{0,3})\d+(?:\.\d+)?/gi, "$1<duration>"],
  [/\b((?:pid|process(?: id)?)[ :=#]{0,3})\d+\b/gi, "$1<pid>"],
  [/\(node:\d+\)/g, "(node:<pid>)"],
  [/^(\[\d+\]) \d+$/gm, "$1 <pid>"],
  [/((?:\blocalhost|\b\d{1,3}(?:\.\d{1,3}){3}|\[[0-9a-f:]+\]|::):)\d{2,5}\b/gi, "$1<port>"],
  [/\b(port[ :=]{1,3})\d{2,5}\b/gi, "$1<port>"],
  [/\b0x[0-9a-f]+\b/gi, "<hex>"],
  [/\b(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,}\b/gi, "<hex>"],
];

function replacement(pattern: RegExp | undefined, name: string): Step[] {
  return pattern === undefined ? [] : [[pattern, name]];
}

/** What stands directly in a directory for temporary things. */
function temporaryName(directory: string): RegExp | undefined {
  const pattern = pathPattern(directory);
  return pattern && new RegExp(`${pattern.source}/[\\w.+@%-]+`, pattern.flags);
}

function global({ source, flags }: RegExp): RegExp {
  return new RegExp(source, flags.includes("g") ? flags : `${flags}g`);
}
