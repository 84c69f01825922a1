// Writes docs/statements.md: each statement of docs/seed-statements.md with the tests that carry its id.
//
//   node scripts/statements.mjs                   writes the page
//   node scripts/statements.mjs --check           writes nothing, and fails if the page is not current
//   node scripts/statements.mjs --missing PT,PC   also lists the statements without a proof; without prefixes, of all seeds
//
// An id counts in the title of a test, or in a comment: one right above a test belongs to that test, any other one to
// the test it stands in. A statement marked [doc] is proven by a line of docs/*.md that cites its id. An id that no
// statement has is an error. docs/statement-notes.json says why statements fall away, and lists the departures.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, sep } from "node:path";

const ROOT = join(import.meta.dirname, "..");
const PAGE = "docs/statements.md";
const SOURCE = "docs/seed-statements.md";
const NOTES = "docs/statement-notes.json";
const ID = /\b(?:PT|PC|PE|PI)-\d{3}\b/g;

process.exitCode = main(process.argv.slice(2));

function main(args) {
  const statements = readStatements(read(SOURCE));
  const notes = JSON.parse(read(NOTES));
  const tests = testFiles().flatMap((file) => testCitations(file, read(file)));
  const docs = docFiles().flatMap((file) => docCitations(file, read(file)));
  const noted = [...Object.keys(notes.fallsAway), ...notes.departures.flatMap(({ ids }) => ids)];

  const known = new Set(statements.map(({ id }) => id));
  const cited = [...tests, ...docs, ...noted.map((id) => ({ id, place: NOTES }))];
  const unknown = cited.filter(({ id }) => !known.has(id));
  for (const { id, place } of unknown) console.error(`${place}: no statement is called ${id}`);
  if (unknown.length > 0) return 1;

  const proofs = new Map(statements.map(({ id, isDoc }) => [id, proofsOf(id, isDoc ? [...tests, ...docs] : tests)]));
  const missing = statements.filter(({ id }) => proofs.get(id).length === 0 && !Object.hasOwn(notes.fallsAway, id));
  const page = renderPage(statements, proofs, notes, missing.length);
  const isCurrent = existsSync(join(ROOT, PAGE)) && read(PAGE) === page;
  const check = args.includes("--check");
  if (!check && !isCurrent) writeFileSync(join(ROOT, PAGE), page);

  console.log(countLine(statements, missing.length, notes));
  if (args.includes("--missing")) listMissing(missing, args[args.indexOf("--missing") + 1]);
  if (!check || isCurrent) return 0;
  console.error(`${PAGE} is not current; run: npm run statements`);
  return 1;
}

/** The statements and the headings over them, in order. */
function readStatements(markdown) {
  let seed = "";
  let section = "";
  return markdown.split("\n").flatMap((line) => {
    if (line.startsWith("## ")) seed = line.slice(3);
    if (line.startsWith("### ")) section = line.slice(4);
    const [, id, text] = /^- \*\*([A-Z]{2}-\d{3})\*\* (.*)$/.exec(line) ?? [];
    return id === undefined ? [] : [{ id, text, seed, section, isDoc: text.includes("[doc]") }];
  });
}

/** Each id in the titles and comments of a test file, with the test it belongs to. */
function testCitations(file, source) {
  const titles = findTitles(source);
  const inTitles = titles.flatMap(({ title }) => idsIn(title).map((id) => ({ id, place: `\`${file}\`: ${title}` })));
  const inComments = [...source.matchAll(/^[ \t]*(?:\/\/|\/?\*).*$|[ \t]\/\/ .*$/gm)].flatMap((comment) => {
    const title = testOfComment(titles, source, comment.index + comment[0].length) ?? "(outside of a test)";
    return idsIn(comment[0]).map((id) => ({ id, place: `\`${file}\`: ${title}` }));
  });
  return [...inTitles, ...inComments];
}

/** The first arguments of `test`, `it` and `describe`, of their variants (`test.each(…)(`) and of helpers named `…Test`. */
function findTitles(source) {
  const call = /(?:\b(?:test|it|describe)(?:\.\w+)*|\b\w+Test|[)`])\s*\(\s*(["'`])((?:\\[\s\S]|(?!\1)[^\\])*)\1\s*,/g;
  return [...source.matchAll(call)].map((match) => ({
    start: match.index,
    title: match[2].replace(/\\(["'`\\])/g, "$1").replace(/\s+/g, " "),
  }));
}

function testOfComment(titles, source, end) {
  const codeAfter = source
    .slice(end)
    .split("\n")
    .find((line) => line.trim() !== "" && !/^\s*(\/\/|\/?\*)/.test(line));
  const isAboveTest = /^\s*(test|it|describe|\w+Test)\b/.test(codeAfter ?? "");
  const test = isAboveTest ? titles.find(({ start }) => start > end) : titles.findLast(({ start }) => start < end);
  return test?.title;
}

/** Each id in a page, with the heading it stands under. */
function docCitations(file, markdown) {
  let heading = "";
  return markdown.split("\n").flatMap((line) => {
    const [, text] = /^#+ (.*)$/.exec(line) ?? [];
    heading = text ?? heading;
    return idsIn(line).map((id) => ({ id, place: `\`${file}\`: ${heading}` }));
  });
}

function idsIn(text) {
  return text.match(ID) ?? [];
}

function proofsOf(id, citations) {
  return [...new Set(citations.filter((citation) => citation.id === id).map(({ place }) => place))].sort();
}

function testFiles() {
  const roots = readdirSync(join(ROOT, "packages")).flatMap((name) => [
    `packages/${name}/src`,
    `packages/${name}/test`,
  ]);
  return roots
    .filter((root) => existsSync(join(ROOT, root)))
    .flatMap((root) => {
      const files = readdirSync(join(ROOT, root), { recursive: true }).filter((file) => file.endsWith(".test.ts"));
      return files.map((file) => `${root}/${file.split(sep).join("/")}`);
    });
}

function docFiles() {
  const files = readdirSync(join(ROOT, "docs")).filter((file) => file.endsWith(".md"));
  return files.map((file) => `docs/${file}`).filter((file) => file !== PAGE && file !== SOURCE);
}

function renderPage(statements, proofs, notes, missing) {
  const lines = [
    "# Statements and their proofs",
    "",
    "Written by `npm run statements`; not to be edited. What the ids mean: [seed-statements.md](seed-statements.md).",
    "",
    `${countLine(statements, missing, notes)}.`,
  ];
  let [seed, section] = ["", ""];
  for (const statement of statements) {
    if (statement.seed !== seed) lines.push("", `## ${statement.seed}`);
    if (statement.section !== section) lines.push("", `### ${statement.section}`, "");
    ({ seed, section } = statement);
    lines.push(`- **${statement.id}** ${statement.text}`, ...proofLines(statement.id, proofs.get(statement.id), notes));
  }
  return `${[...lines, "", ...departureLines(notes.departures)].join("\n")}\n`;
}

function proofLines(id, proofs, { fallsAway, departures }) {
  const lines = proofs.map((proof) => `  - ${proof}`);
  if (departures.some(({ ids }) => ids.includes(id))) lines.push("  - See [Departures](#departures).");
  if (Object.hasOwn(fallsAway, id)) lines.push(`  - Falls away: ${fallsAway[id]}`);
  else if (proofs.length === 0) lines.push("  - No proof yet.");
  return lines;
}

function departureLines(departures) {
  const rows = departures.map(
    ({ ids, seed, rookery, reason }) => `| ${ids.join(", ") || "–"} | ${seed} | ${rookery} | ${reason} |`,
  );
  return [
    "## Departures",
    "",
    "Where Rookery differs from a seed on purpose. The statement is then tested in Rookery's form.",
    "",
    "| Statement | Seed | Rookery | Reason |",
    "| --- | --- | --- | --- |",
    ...rows,
  ];
}

function countLine(statements, missing, { fallsAway }) {
  const away = Object.keys(fallsAway).length;
  return `${statements.length} statements: ${statements.length - missing - away} proven, ${missing} without a proof, ${away} fallen away`;
}

function listMissing(missing, prefixes = "PT,PC,PE,PI") {
  const wanted = prefixes.split(",");
  for (const { id, text } of missing) if (wanted.includes(id.slice(0, 2))) console.log(`${id} ${text}`);
}

function read(file) {
  return readFileSync(join(ROOT, file), "utf8");
}
