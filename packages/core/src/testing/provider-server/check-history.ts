import { isDeepStrictEqual } from "node:util";
import { type Answer, type CallPiece, joinTurns, type Piece, parsedArguments, type Turn } from "./pieces.ts";

/**
 * What one protocol of the server has given out, against which later requests are read.
 *
 * A reply of a conversation is known again by its fidelity, by the ids of its calls, or by what it says at its place. One
 * that was never given, as in a history that was begun elsewhere, is only looked through for calls without an answer.
 */
export class ReplyMemory {
  readonly #given: { readonly pieces: readonly Piece[]; readonly marks: ReadonlySet<string> }[] = [];

  /** Keeps a reply that is given to a conversation. */
  keep(pieces: readonly Piece[], conversation: readonly Turn[]): void {
    this.#given.push({ pieces, marks: new Set(marksOf(pieces, repliesOf(joinTurns(conversation)).length)) });
  }

  /** What is missing from a conversation, changed in it or unanswered; one sentence each. */
  problems(conversation: readonly Turn[]): string[] {
    const turns = joinTurns(conversation);
    return [
      ...repliesOf(turns).flatMap((pieces, depth) => this.#changes(pieces, depth)),
      ...turns.flatMap((turn, i) => answerProblems(turn, turns[i + 1])),
      ...lateAnswers(conversation),
    ];
  }

  /** Where several replies look alike, the one that fits best is meant. */
  #changes(returned: readonly Piece[], depth: number): string[] {
    const marks = marksOf(returned, depth);
    const given = this.#given.filter((reply) => marks.some((mark) => reply.marks.has(mark)));
    const changes = given.map(({ pieces }) => changesOf(pieces, returned));
    return changes.toSorted((a, b) => a.length - b.length)[0] ?? [];
  }
}

function repliesOf(turns: readonly Turn[]): (readonly Piece[])[] {
  return turns.flatMap((turn) => (turn.role === "assistant" ? [turn.pieces] : []));
}

/** What a reply is known by: `depth` is the number of replies before it. */
function marksOf(pieces: readonly Piece[], depth: number): string[] {
  return [
    ...pieces.flatMap(({ fidelity = {} }) => Object.entries(fidelity).map((field) => field.join(":"))),
    ...callsOf(pieces).flatMap(({ id, name, content }) => [
      `${depth} ${name} ${content}`,
      ...(id ? [`call ${id}`] : []),
    ]),
    ...PROSE.map((kind) => `${depth} ${kind} ${joined(pieces, kind)}`).filter((mark) => /^\d+ \w+ \S/.test(mark)),
  ];
}

const PROSE = ["thinking", "text"] as const;

function changesOf(given: readonly Piece[], returned: readonly Piece[]): string[] {
  const contents = [
    ...PROSE.flatMap((kind) => proseChanges(kind, given, returned)),
    ...callChanges(callsOf(given), callsOf(returned)),
    ...given.filter((piece) => piece.kind === "image" && !finds(returned, piece)).map(() => "an image is missing"),
  ];
  // What is missing or changed itself is named once.
  const kept = contents.length === 0 ? given : given.filter((piece) => finds(returned, piece));
  return [...contents, ...kept.flatMap((piece) => fidelityChanges(piece, returned)), ...orderChanges(given, returned)];
}

/** Blank pieces may stay away, since services refuse them, and so may those that are optional. */
function proseChanges(kind: (typeof PROSE)[number], given: readonly Piece[], returned: readonly Piece[]): string[] {
  const [before, after] = [joined(given, kind), joined(returned, kind)];
  const accepted = [given, given.filter((piece) => !isOptional(piece))].flatMap((pieces) => [
    joined(pieces, kind),
    joined(pieces.filter(isFilled), kind),
  ]);
  if (before.trim() === "" || accepted.includes(after)) return [];
  const words = after === "" ? "is missing" : `came back as ${quoted(after)}`;
  return [`the ${kind} ${quoted(before)} ${words}`];
}

function isFilled({ content }: Piece): boolean {
  return content.trim() !== "";
}

function isOptional(piece: Piece): boolean {
  return "optional" in piece && piece.optional === true;
}

function callChanges(given: readonly CallPiece[], returned: readonly CallPiece[]): string[] {
  if (given.length !== returned.length) return [`the calls ${names(given)} came back as ${names(returned)}`];
  return given.flatMap((call, i) => {
    const back = returned[i] ?? call;
    const changes: string[] = [];
    if (call.name !== back.name) changes.push(`the call ${call.name} came back as ${back.name}`);
    if (call.id !== undefined && call.id !== back.id) {
      changes.push(`the call ${call.name} came back with the id ${back.id ?? "of none"} in place of ${call.id}`);
    }
    if (!sameArguments(call, back)) {
      changes.push(`the arguments ${quoted(call.content)} of ${call.name} came back as ${quoted(back.content)}`);
    }
    return changes;
  });
}

/** Arguments that hold no object may come back as any. */
function sameArguments(given: CallPiece, returned: CallPiece): boolean {
  const before = parsedArguments(given);
  return before === undefined || isDeepStrictEqual(before, parsedArguments(returned));
}

function fidelityChanges(piece: Piece, returned: readonly Piece[]): string[] {
  const same = returned.filter((other) => isSame(piece, other));
  if (same.length === 0 && (isOptional(piece) || (piece.kind === "text" && !isFilled(piece)))) return [];
  return Object.entries(piece.fidelity ?? {}).flatMap(([name, value]) => {
    if (same.some(({ fidelity }) => fidelity?.[name] === value)) return [];
    const what = `the ${name} of ${described(piece)}`;
    if (returned.some(({ fidelity }) => fidelity?.[name] === value)) return [`${what} came back on another piece`];
    return [
      `${what} ${same.some(({ fidelity }) => fidelity?.[name] !== undefined) ? "came back changed" : "is missing"}`,
    ];
  });
}

/** The order of the pieces by the fidelity that they have. */
function orderChanges(given: readonly Piece[], returned: readonly Piece[]): string[] {
  const before = given.flatMap(sealsOf);
  const after = returned.flatMap(sealsOf).filter((seal) => before.includes(seal));
  const kept = before.filter((seal) => after.includes(seal));
  return isDeepStrictEqual(kept, after) ? [] : ["the pieces came back in another order"];
}

function sealsOf({ fidelity }: Piece): string[] {
  return Object.values(fidelity ?? {});
}

function answerProblems(turn: Turn, next: Turn | undefined): string[] {
  if (turn.role === "user") return [];
  const answers: Answer[] = next?.role === "user" ? [...next.answers] : [];
  const unanswered = callsOf(turn.pieces).filter((call) => {
    const at = answers.findIndex((answer) => isAnswer(call, answer));
    if (at !== -1) answers.splice(at, 1);
    return at === -1;
  });
  return [
    ...unanswered.map(({ id, name }) => `the call ${name}${id ? ` (${id})` : ""} has no answer`),
    ...answers.map(({ id, name }) => `the answer to ${id ?? name ?? ""} answers no call`),
  ];
}

/** Answers that something else of the user stands before. */
function lateAnswers(conversation: readonly Turn[]): string[] {
  return conversation.flatMap((turn, i) => {
    const before = conversation[i - 1];
    if (turn.role !== "user" || before?.role !== "user" || before.answers.length > 0) return [];
    return turn.answers.map(({ id, name }) => `the answer to ${id ?? name ?? ""} comes behind something else`);
  });
}

function isAnswer(call: CallPiece, { id, name }: Answer): boolean {
  return call.id !== undefined || id !== undefined ? call.id === id : call.name === name;
}

function callsOf(pieces: readonly Piece[]): CallPiece[] {
  return pieces.filter((piece) => piece.kind === "call");
}

function joined(pieces: readonly Piece[], kind: Piece["kind"]): string {
  return pieces.flatMap((piece) => (piece.kind === kind ? [piece.content] : [])).join("");
}

function finds(pieces: readonly Piece[], piece: Piece): boolean {
  return pieces.some((other) => isSame(piece, other));
}

function isSame(a: Piece, b: Piece): boolean {
  return a.kind === "call" && b.kind === "call"
    ? a.name === b.name && sameArguments(a, b)
    : a.kind === b.kind && a.content === b.content;
}

function names(calls: readonly CallPiece[]): string {
  return calls.map(({ name }) => name).join(", ") || "none";
}

function described(piece: Piece): string {
  if (piece.kind === "image") return "an image";
  return piece.kind === "call" ? `the call ${piece.name}` : `the ${piece.kind} ${quoted(piece.content)}`;
}

function quoted(text: string): string {
  return JSON.stringify(text.length <= SHOWN_CHARACTERS ? text : `${text.slice(0, SHOWN_CHARACTERS)}…`);
}

const SHOWN_CHARACTERS = 60;
