import { shorten } from "../../environment/shorten.ts";
import { isRecord } from "../../omnimessage/shape.ts";

/** A `SKILL.md`, taken apart. */
export interface SkillText {
  readonly name: string;
  /** One line. */
  readonly description: string;
  /** Without the front matter. */
  readonly body: string;
}

/** Why a file is no skill, and in which of its lines that shows. */
export interface SkillProblem {
  readonly line: number;
  readonly problem: string;
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;
const MAX_DESCRIPTION_CHARS = 1024;
/** Reading YAML that is meant to be slow takes a tenth of a second for so much, and a second for 64 KiB. */
const MAX_FRONT_MATTER_CHARS = 8192;

/**
 * Reads a skill in the form of the Agent Skills convention: front matter between two lines `---`, with `name` and
 * `description`. People write it as prose: a colon in the description, CRLF and a byte order mark do no harm.
 */
export async function parseSkill(text: string): Promise<SkillText | SkillProblem> {
  const lines = text.replace(/^\ufeff/, "").split(/\r?\n/);
  if (lines[0]?.trimEnd() !== "---") return { line: 1, problem: "it does not begin with front matter (a line ---)" };
  const end = lines.findIndex((line, i) => i > 0 && line.trimEnd() === "---");
  if (end === -1) return { line: 1, problem: "its front matter has no end (a line ---)" };
  const frontMatter = lines.slice(1, end).join("\n");
  if (frontMatter.length > MAX_FRONT_MATTER_CHARS) {
    return { line: 1, problem: `its front matter has more than ${MAX_FRONT_MATTER_CHARS} characters` };
  }
  const fields = await readFields(frontMatter);
  const [name, description] = [fields.name, fields.description].map((value) =>
    typeof value === "string" ? value : "",
  );
  const lineOf = (field: string): number =>
    Math.max(
      0,
      lines.findIndex((line) => line.startsWith(`${field}:`)),
    ) + 1;
  if (name === undefined || !NAME.test(name)) {
    return { line: lineOf("name"), problem: "its name is not one of letters, digits, - and _, up to 64 of them" };
  }
  const oneLine = (description ?? "").replaceAll(/[\s\p{Cc}]+/gu, " ").trim();
  if (oneLine === "") return { line: lineOf("description"), problem: "it has no description" };
  const body = lines
    .slice(end + 1)
    .join("\n")
    .trim();
  return { name, description: shorten(oneLine, MAX_DESCRIPTION_CHARS), body };
}

/** As YAML in which every value is text; where that fails, each line by itself. */
async function readFields(frontMatter: string): Promise<Readonly<Record<string, unknown>>> {
  const { parse } = await import("yaml");
  try {
    const value: unknown = parse(frontMatter, { schema: "failsafe", logLevel: "error" });
    if (isRecord(value)) return value;
  } catch {
    // Read as prose below.
  }
  return Object.fromEntries(
    frontMatter.split("\n").flatMap((line) => {
      const [, key, value = ""] = /^(name|description):[ \t]*(.*)$/.exec(line) ?? [];
      return key === undefined ? [] : [[key, value.trim().replace(/^(["'])(.*)\1$/, "$2")]];
    }),
  );
}
