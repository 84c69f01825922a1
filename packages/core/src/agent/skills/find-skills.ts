import { existsSync, readdirSync, realpathSync } from "node:fs";
import { join, sep } from "node:path";
import { problemText } from "../../environment/files/file-problem.ts";
import { openRegularFile } from "../../environment/files/open-regular-file.ts";
import { readChunks } from "../../environment/files/read-chunks.ts";
import { parseSkill } from "./front-matter.ts";

/** A skill that was found. */
export interface Skill {
  readonly name: string;
  readonly description: string;
  /** Canonical, as are all paths here. */
  readonly file: string;
  /** The directory of skills it was found in, which it must not leave. */
  readonly root: string;
}

export interface SkillLimits {
  readonly maxSkills: number;
  /** Of one `SKILL.md`. */
  readonly maxSkillBytes: number;
}

/**
 * Finds the skills below some directories: `NAME/SKILL.md`. The first of a name wins.
 *
 * @param roots - In the order in which they win; those that are not there are none.
 * @param onProblem - Told of each that is left out, and why.
 */
export async function findSkills(
  roots: readonly string[],
  { maxSkills, maxSkillBytes }: SkillLimits,
  onProblem: (problem: string) => void,
): Promise<ReadonlyMap<string, Skill>> {
  const skills = new Map<string, Skill>();
  const files = roots.flatMap(candidates);
  for (const [index, { file, root }] of files.entries()) {
    if (skills.size >= maxSkills) {
      onProblem(`max_skills is ${maxSkills}; left out are ${files.length - index} more, from ${file} on`);
      break;
    }
    const found = await readSkill(file, root, maxSkillBytes);
    if ("problem" in found) {
      onProblem(`${found.where} is no skill: ${found.problem}`);
      continue;
    }
    const first = skills.get(found.name);
    if (first === undefined) skills.set(found.name, found);
    // A link may lead to the same file.
    else if (first.file !== found.file) {
      onProblem(`the skill ${found.name} in ${found.file} is hidden by the one in ${first.file}`);
    }
  }
  return skills;
}

/** The text of a skill, at most so many bytes. @throws It left its root, or cannot be read. */
export async function skillText(
  { file, root }: Pick<Skill, "file" | "root">,
  maxBytes: number,
): Promise<{ text: string; isCut: boolean }> {
  const real = realpathSync.native(file);
  if (!real.startsWith(root + sep)) throw new Error(`it leads out of ${root}, to ${real}`);
  const opened = await openRegularFile(real);
  try {
    const parts: Buffer[] = [];
    for await (const chunk of readChunks(opened, { maxBytes })) parts.push(Buffer.from(chunk));
    const bytes = Buffer.concat(parts);
    const isCut = opened.stats.size > bytes.length;
    // A character that the limit cut is left out.
    return { text: new TextDecoder().decode(bytes, { stream: isCut }), isCut };
  } finally {
    opened.close();
  }
}

/** The `SKILL.md` of each directory in a root, in order of their names. */
function candidates(path: string): { file: string; root: string }[] {
  try {
    const root = realpathSync.native(path);
    const entries = readdirSync(root, { withFileTypes: true }).filter(
      (entry) => entry.isDirectory() || entry.isSymbolicLink(),
    );
    const names = entries.map(({ name }) => name).sort();
    const files = names.map((name) => join(root, name, "SKILL.md"));
    return files.filter((file) => existsSync(file)).map((file) => ({ file, root }));
  } catch {
    return [];
  }
}

async function readSkill(
  file: string,
  root: string,
  maxBytes: number,
): Promise<Skill | { readonly where: string; readonly problem: string }> {
  try {
    const skill = await parseSkill((await skillText({ file, root }, maxBytes)).text);
    if ("problem" in skill) return { where: `${file}:${skill.line}`, problem: skill.problem };
    const { name, description } = skill;
    return { name, description, file: realpathSync.native(file), root };
  } catch (error) {
    return { where: file, problem: problemText(error) };
  }
}
