/**
 * A piece of output: text, or bytes that are printable ASCII, newlines and tabs, whose characters are its bytes. Long
 * output stays bytes from the pipe to the archive, since making strings of it costs more than reading it.
 */
export type OutputPiece = string | Buffer;

export function piecesText(pieces: readonly OutputPiece[]): string {
  return pieces.map(pieceText).join("");
}

export function pieceText(piece: OutputPiece): string {
  return typeof piece === "string" ? piece : piece.toString("latin1");
}

/** The same text by itself: a slice keeps the whole string it was cut from in memory. */
export function ownCopy(text: string): string {
  return Buffer.from(text, "utf16le").toString("utf16le");
}
